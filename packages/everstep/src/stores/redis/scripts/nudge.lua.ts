/** One hint per script for the other processes: who it comes from, and what there is to look for. It may get lost. */
export const nudge = `
local nudge = { due = false, changed = false, ended = false }

local function sendNudge()
  local kinds = (nudge.due and 'd' or '') .. (nudge.changed and 'c' or '') .. (nudge.ended and 'e' or '')
  if kinds == '' then return end
  redis.pcall('PUBLISH', P .. 'nudge', sender .. ' ' .. kinds)
end
`;
