const MASK = '[redacted]';

/** Field names whose value is a secret whatever it looks like. */
const SECRET_FIELD =
  /^(authorization|proxy-authorization|cookie|set-cookie|password|passphrase|client_?secret|secret|api_?key|x-api-key|(access|refresh|id)_?token|token|assertion|client_assertion|code_verifier|creds_?key|credential|private_?key)$/i;

/** Shapes that give a secret away inside free text. */
const SECRET_SHAPES: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic|DPoP)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${MASK}`],
  // A JWT: three base64url parts, the first of which starts as `{"` does.
  [/\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, MASK],
  // A sealed envelope is not a secret, but it has no business in a log either.
  [/\bv1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+/g, MASK],
  // user:password@ inside a URL.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]*@/gi, `$1${MASK}@`],
  // name=value and "name":"value" pairs in text, queries and form bodies.
  [
    /\b((?:access|refresh|id)_token|client_secret|code_verifier|code|assertion|password|api[_-]?key|token|secret)(=|"\s*:\s*")[^&\s"',;}]+/gi,
    `$1$2${MASK}`,
  ],
];

export interface Redactor {
  text(value: string): string;
  /** A deep copy with secrets masked: by field name, by shape, by exact value. */
  value(value: unknown): unknown;
}

/**
 * Masks secrets on their way to a log or an error body. `live` are values known to be secret right now (the request's
 * own token, configured keys): they are scrubbed wherever they stand, whatever their shape.
 */
export function createRedactor(live: readonly string[] = []): Redactor {
  // Short values would mask half of a log and hide nothing.
  const exact = live.filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);

  function text(value: string): string {
    let out = value;
    for (const secret of exact) out = out.replaceAll(secret, MASK);
    for (const [shape, replacement] of SECRET_SHAPES) out = out.replace(shape, replacement);
    return out;
  }

  function walk(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > 8) return '[too deep]';
    if (value instanceof Error) {
      return { ...(walk({ ...value }, depth + 1) as object), name: value.name, message: text(value.message) };
    }
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        SECRET_FIELD.test(name) && item !== undefined && item !== null && typeof item !== 'boolean'
          ? MASK
          : walk(item, depth + 1),
      ]),
    );
  }

  return { text, value: (value) => walk(value, 0) };
}
