/** Reads a path such as `/api/mcp/servers/:serverName/tools` as Express does, for routes that do without it. */
export type MatchPath = (segments: readonly string[]) => Readonly<Record<string, string>> | null;

/** The segments of a path. Express takes one slash at the end for none. */
export function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/');
  if (segments.length > 2 && segments.at(-1) === '') segments.pop();
  return segments;
}

export function createMatchPath(pattern: string): MatchPath {
  const patternSegments = pattern.split('/');
  const literals = patternSegments.flatMap((text, index) => (text.startsWith(':') ? [] : [{ text, index }]));
  const variables = patternSegments.flatMap((text, index) =>
    text.startsWith(':') ? [{ name: text.slice(1), index }] : [],
  );
  return (segments) => {
    if (segments.length !== patternSegments.length) return null;
    for (const { text, index } of literals) if (segments[index] !== text) return null;
    const params: Record<string, string> = {};
    for (const { name, index } of variables) {
      const value = decode(segments[index] ?? '');
      if (value === null) return null;
      params[name] = value;
    }
    return params;
  };
}

function decode(value: string): string | null {
  if (value === '') return null;
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
