import { isNativeError } from 'node:util/types';

const MASK = '[redacted]';

/** Field names whose value is always masked, such as `x-auth-token`, `client_secret` or `apikey`. */
const SECRET_FIELD =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^creds_?key$|(?:^|[_.-]|access|refresh|id|session|auth|client|code)(?:token|secret|password|passwd|passphrase|(?:api|private|secret|access|signing|encryption|master)[_-]?key|assertion|verifier|credentials?)$/i;
/** The same in camel case, where a capital letter starts a word: matches `sessionToken`, not `broken`. */
const SECRET_FIELD_CAMEL =
  /(?:Token|Secret|Password|Passphrase|(?:Api|Private|Secret|Access|Signing|Encryption|Master)Key|Assertion|Verifier|Credentials?)$|^(?:secret|access|signing|encryption|master|private|api)Key$/;

/** Names in free text whose following value is a secret. Matches `OPENID_CLIENT_SECRET`; `status_code` is no secret. */
const SECRET_NAME = String.raw`(?<![a-z0-9])(?:(?:access|refresh|id|session|auth)[_-]?token|client[_-]?secret|code[_-]?verifier|assertion|password|passphrase|(?:secret[_-]?)?access[_-]?key|(?:api|secret|private|signing|encryption|master)[_-]?key|token|secret)`;
const ASSIGNED_NAME = String.raw`(${SECRET_NAME}|\bcode)`;

/** Secrets in free text, recognized by their form. */
const SECRET_PATTERNS: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic|DPoP)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${MASK}`],
  // A JWT: three base64url parts. The first starts with the encoding of `{"`.
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, MASK],
  // A sealed envelope. It is encrypted, but does not belong in a log either.
  [/\bv1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+/g, MASK],
  // The userinfo of a URL: everything before the last @ of the authority, which may be a token without a password.
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"<>\\]*@/gi, `$1${MASK}@`],
  // A header line.
  [/\b((?:proxy-)?authorization|(?:set-)?cookie)\s*:\s*[^\r\n"]+/gi, `$1: ${MASK}`],
  // name: value in text.
  [new RegExp(`(${SECRET_NAME}):[ \\t]+(?:"[^"]*"|'[^']*'|[^\\s"',;}]+)`, 'gi'), `$1: ${MASK}`],
  // name=value in text, queries and form bodies.
  [new RegExp(`${ASSIGNED_NAME}=(?:"[^"]*"|'[^']*'|[^&\\s"',;}]+)`, 'gi'), `$1=${MASK}`],
  // "name":"value" in JSON, to the end of the string.
  [new RegExp(String.raw`${ASSIGNED_NAME}("\s*:\s*")(?:[^"\\]|\\.)*`, 'gis'), `$1$2${MASK}`],
  // The same inside a JSON string.
  [new RegExp(String.raw`${ASSIGNED_NAME}(\\+"\s*:\s*\\+")(?:[^"\\]|\\+(?!["\\]))*`, 'gis'), `$1$2${MASK}`],
];

const MAX_DEPTH = 8;
/** Longer texts are truncated: the patterns are too slow for unbounded input from an upstream. */
const MAX_TEXT_LENGTH = 32_768;
/** Limits all texts of one value together: an upstream error may hold any number of texts just below the limit. */
const MAX_VALUE_LENGTH = 131_072;
const MAX_NODES = 5_000;
/** Dropped from the end of a truncated text: a secret cut in half no longer matches its pattern. */
const TRUNCATION_MARGIN = 1_024;

export interface Redactor {
  text(value: string): string;
  /** Returns a deep copy with secrets masked by field name, by pattern and by exact value. Never throws. */
  value(value: unknown): unknown;
}

/**
 * Masks secrets before they reach a log or an error body. `liveSecrets` are known secret values, such as the token of
 * the request or configured keys. They are masked wherever they appear, in any encoding that `encodedForms` produces.
 */
export function createRedactor(liveSecrets: readonly string[] = []): Redactor {
  // Very short values would match ordinary text everywhere.
  const secretForms = [
    ...new Set(liveSecrets.filter((secret) => secret.length >= 6).flatMap(encodedForms)),
  ].sort((a, b) => b.length - a.length);

  function text(value: string): string {
    let out = value;
    for (const secret of secretForms) out = out.replaceAll(secret, MASK);
    if (out.length <= MAX_TEXT_LENGTH) return maskPatterns(out);
    return `${maskPatterns(out.slice(0, MAX_TEXT_LENGTH)).slice(0, -TRUNCATION_MARGIN)}[truncated]`;
  }

  function redactNode(value: unknown, depth: number, state: WalkState): unknown {
    state.nodes += 1;
    if (state.characters > MAX_VALUE_LENGTH || state.nodes > MAX_NODES) return '[truncated]';
    if (typeof value === 'string') {
      state.characters += value.length;
      return text(value);
    }
    // JSON.stringify throws on a bigint.
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return '[too deep]';
    // Repeated objects are cut as well as cycles: written out, a graph with shared nodes can grow exponentially.
    if (state.objects.has(value)) return '[repeated]';
    state.objects.add(value);
    try {
      return redactObject(value, (item) => redactNode(item, depth + 1, state));
    } catch {
      // A getter or a proxy that throws.
      return '[unreadable]';
    }
  }

  function redactObject(value: object, redactChild: (item: unknown) => unknown): unknown {
    // Binary data is key material or a body. Neither belongs in a log.
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString();
    if (value instanceof URL) return text(value.href);
    if (Array.isArray(value)) return value.map(redactChild);
    if (value instanceof Set) return [...value].map(redactChild);
    if (value instanceof Map || value instanceof Headers) return redactFields([...value], redactChild);
    const redactedFields = redactFields(Object.entries(value), redactChild);
    if (!isNativeError(value) && !(value instanceof Error)) return redactedFields;
    // The name, message, cause and errors of an Error are not enumerable.
    const { name, message, cause, errors } = value as Record<
      'name' | 'message' | 'cause' | 'errors',
      unknown
    >;
    return {
      ...redactedFields,
      name: text(String(name)),
      message: text(String(message)),
      ...(cause !== undefined && { cause: redactChild(cause) }),
      ...(Array.isArray(errors) && !('errors' in redactedFields) && { errors: redactChild(errors) }),
    };
  }

  function redactFields(
    entries: readonly (readonly [unknown, unknown])[],
    redactChild: (item: unknown) => unknown,
  ): object {
    return Object.fromEntries(
      entries.map(([key, item]) => {
        const name = String(key);
        return [text(name), isSecretField(name, item) ? MASK : redactChild(item)];
      }),
    );
  }

  return { text, value: (value) => redactNode(value, 0, { objects: new Set(), nodes: 0, characters: 0 }) };
}

/** Progress of one traversal. */
interface WalkState {
  readonly objects: Set<object>;
  nodes: number;
  characters: number;
}

function isSecretField(name: string, value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'boolean') return false;
  return SECRET_FIELD.test(name) || SECRET_FIELD_CAMEL.test(name);
}

function maskPatterns(text: string): string {
  let out = text;
  for (const [pattern, replacement] of SECRET_PATTERNS) out = out.replace(pattern, replacement);
  return out;
}

/** The secret as plain text, as a JSON string, URL-encoded and form-encoded. */
function encodedForms(secret: string): string[] {
  // Converted through bytes: `encodeURIComponent` throws on an unpaired surrogate.
  const url = encodeURIComponent(Buffer.from(secret).toString());
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  return [secret, JSON.stringify(secret).slice(1, -1), url, form];
}
