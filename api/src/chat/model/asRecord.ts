/** What a model's API sent, as far as it is an object: the shape is promised, and some leave parts out. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
