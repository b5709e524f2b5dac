/** An empty array is two characters, and twenty times that in memory. */
const BYTES_OF_OBJECT = 40;
const BYTES_OF_VALUE = 8;

/** What parsed JSON takes, about. Without recursion: whoever sent it chose how deep it goes. */
export function bytesInMemory(value: object): number {
  let bytes = 0;
  const todo: object[] = [value];
  for (let next = todo.pop(); next; next = todo.pop()) {
    bytes += BYTES_OF_OBJECT;
    if (!Array.isArray(next)) for (const key of Object.keys(next)) bytes += key.length;
    for (const inner of Object.values(next) as unknown[]) {
      bytes += BYTES_OF_VALUE;
      if (typeof inner === 'string') bytes += inner.length;
      else if (typeof inner === 'object' && inner !== null) todo.push(inner);
    }
  }
  return bytes;
}
