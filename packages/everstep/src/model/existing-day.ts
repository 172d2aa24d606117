/** Whether ISO text begins with a day that there is: Date.parse takes the 30th of February for the 2nd of March. */
export function hasExistingDay(iso: string): boolean {
  const [day = ""] = iso.split("T");
  return new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice(-2));
}
