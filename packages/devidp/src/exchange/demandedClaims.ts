/** What somebody may prove by signing in again. Nothing that says who they are: a request must not choose that. */
const PROVABLE: readonly string[] = ['acrs', 'polids', 'amr'];

type Claims = Readonly<Record<string, unknown>>;

/** What a challenge demands of an access token, by claim. Undefined: the text is no challenge. */
export function readDemand(text: string): Map<string, readonly string[]> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(parsed) || !isRecord(parsed.access_token)) return undefined;
  return new Map(
    Object.entries(parsed.access_token).map(([name, wish]) => {
      const { value, values } = isRecord(wish) ? wish : {};
      return [
        name,
        (Array.isArray(values) ? values : [value]).filter((item) => item !== undefined).map(String),
      ];
    }),
  );
}

/** Whether a token is as a challenge wants it. `nbf` means: issued no earlier. */
export function meetsDemand(text: string, token: Claims): boolean {
  const demand = readDemand(text);
  if (!demand) return false;
  return [...demand].every(([name, wanted]) => {
    if (name === 'nbf') return Number(token.iat) >= Number(wanted[0]);
    const has = token[name];
    return (Array.isArray(has) ? has : [has]).some((value) => wanted.includes(String(value)));
  });
}

/** As claims of a token: what a sign-in with this challenge has proven. */
export function provenBy(text: string): Record<string, string[]> {
  const demand = [...(readDemand(text) ?? [])];
  return Object.fromEntries(
    demand.filter(([name]) => PROVABLE.includes(name)).map(([name, values]) => [name, [...values]]),
  );
}

/** What was proven at the sign-in stays proven in what the token is exchanged for. */
export function provenIn(token: Claims): Record<string, unknown> {
  return Object.fromEntries(Object.entries(token).filter(([name]) => PROVABLE.includes(name)));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
