/** Deeper values are refused; both JSON.parse and the codec recurse. */
export const depthMax = 1000;
/** A small graph that shares its branches can describe billions of values; this is where the walk gives up. */
export const visitsMax = 5_000_000;
/** Long text counts as several values, so that one text reachable a thousand times is noticed, too. */
export const charsPerVisit = 32;
/** The same for marks, whose paths can be long. */
export const marksCharsMax = 32 * 1024 * 1024;
