/** Claims that a new sign-in can prove. None that identify the user, because a request must not choose the identity. */
const PROVABLE_CLAIMS: readonly string[] = ['acrs', 'polids', 'amr'];

type Claims = Readonly<Record<string, unknown>>;

/** The required values by claim; undefined if the text is not a claims request. */
function parseClaimsRequest(text: string): Map<string, readonly string[]> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(parsed) || !isRecord(parsed.access_token)) return undefined;
  return new Map(
    Object.entries(parsed.access_token).map(([name, request]) => {
      const { value, values } = isRecord(request) ? request : {};
      return [
        name,
        (Array.isArray(values) ? values : [value]).filter((item) => item !== undefined).map(String),
      ];
    }),
  );
}

/** Whether a token satisfies a claims request. `nbf` means: issued no earlier. */
export function satisfiesClaimsRequest(text: string, token: Claims): boolean {
  const requested = parseClaimsRequest(text);
  if (!requested) return false;
  return [...requested].every(([name, expected]) => {
    if (name === 'nbf') return Number(token.iat) >= Number(expected[0]);
    const actual = token[name];
    return (Array.isArray(actual) ? actual : [actual]).some((value) => expected.includes(String(value)));
  });
}

/** The token claims that a sign-in with this claims request proves. */
export function toProvenClaims(text: string): Record<string, string[]> {
  const requested = [...(parseClaimsRequest(text) ?? [])];
  return Object.fromEntries(
    requested.filter(([name]) => PROVABLE_CLAIMS.includes(name)).map(([name, values]) => [name, [...values]]),
  );
}

/** Copies proven claims from the subject token to the exchanged token. */
export function pickProvenClaims(token: Claims): Record<string, unknown> {
  return Object.fromEntries(Object.entries(token).filter(([name]) => PROVABLE_CLAIMS.includes(name)));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
