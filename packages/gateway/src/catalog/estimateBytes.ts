/** An empty array is two characters, and twenty times that in memory. */
const BYTES_PER_OBJECT = 40;
const BYTES_PER_VALUE = 8;

/** What parsed JSON takes, about. Without recursion: whoever sent it chose how deep it goes. */
export function estimateBytes(value: object): number {
  let bytes = 0;
  const pending: object[] = [value];
  for (let next = pending.pop(); next; next = pending.pop()) {
    bytes += BYTES_PER_OBJECT;
    if (!Array.isArray(next)) for (const key of Object.keys(next)) bytes += key.length;
    for (const member of Object.values(next) as unknown[]) {
      bytes += BYTES_PER_VALUE;
      if (typeof member === 'string') bytes += member.length;
      else if (typeof member === 'object' && member !== null) pending.push(member);
    }
  }
  return bytes;
}
