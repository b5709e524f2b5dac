type Fields = Readonly<Record<string, unknown>>;

/**
 * Where a definition sends the values that its users enter: the server, and every text that a value is put into. Two
 * definitions with the same places can be exchanged without a value going anywhere new.
 */
export function placesOf(definition: unknown): string {
  const { url, headers, apiKey } = fieldsOf(definition);
  const filled = Object.entries(fieldsOf(headers))
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([, value]) => holdsValue(value))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const { key: _theirs, ...place } = fieldsOf(apiKey);
  return JSON.stringify([originOf(url), holdsValue(url) ? url : null, filled, Object.entries(place).sort()]);
}

/** Of a text that is no URL there is no telling, so it stands for itself. */
function originOf(url: unknown): unknown {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : url;
}

function holdsValue(text: unknown): boolean {
  return typeof text === 'string' && text.includes('{{');
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
