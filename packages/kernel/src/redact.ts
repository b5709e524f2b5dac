import { isNativeError } from 'node:util/types';

const MASK = '[redacted]';

/** Field names whose value is a secret whatever it looks like, as `x-auth-token`, `client_secret` or `apikey`. */
const SECRET_FIELD =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^creds_?key$|(?:^|[_.-]|access|refresh|id|session|auth|client|code)(?:token|secret|password|passwd|passphrase|(?:api|private|secret|access|signing|encryption|master)[_-]?key|assertion|verifier|credentials?)$/i;
/** The same in camel case, where the capital shows that a word begins: `sessionToken`, not `broken`. */
const SECRET_FIELD_CAMEL =
  /(?:Token|Secret|Password|Passphrase|(?:Api|Private|Secret|Access|Signing|Encryption|Master)Key|Assertion|Verifier|Credentials?)$|^(?:secret|access|signing|encryption|master|private|api)Key$/;

/** Names that give away what follows them in text. `OPENID_CLIENT_SECRET` counts; `status_code` is not a code. */
const SECRET_NAME = String.raw`(?<![a-z0-9])(?:(?:access|refresh|id|session|auth)[_-]?token|client[_-]?secret|code[_-]?verifier|assertion|password|passphrase|(?:secret[_-]?)?access[_-]?key|(?:api|secret|private|signing|encryption|master)[_-]?key|token|secret)`;
const ASSIGNED_NAME = String.raw`(${SECRET_NAME}|\bcode)`;

/** Shapes that give a secret away inside free text. */
const SECRET_PATTERNS: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic|DPoP)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${MASK}`],
  // A JWT: three base64url parts, the first of which starts as `{"` does.
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, MASK],
  // A sealed envelope is not a secret, but it has no business in a log either.
  [/\bv1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+/g, MASK],
  // Everything before the last @ of a URL's authority: a token may stand there without a password.
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"<>\\]*@/gi, `$1${MASK}@`],
  // A header as text, to the end of its line.
  [/\b((?:proxy-)?authorization|(?:set-)?cookie)\s*:\s*[^\r\n"]+/gi, `$1: ${MASK}`],
  // name: value in text.
  [new RegExp(`(${SECRET_NAME}):[ \\t]+(?:"[^"]*"|'[^']*'|[^\\s"',;}]+)`, 'gi'), `$1: ${MASK}`],
  // name=value in text, queries and form bodies.
  [new RegExp(`${ASSIGNED_NAME}=(?:"[^"]*"|'[^']*'|[^&\\s"',;}]+)`, 'gi'), `$1=${MASK}`],
  // "name":"value", to the end of the string, whatever stands in it.
  [new RegExp(String.raw`${ASSIGNED_NAME}("\s*:\s*")(?:[^"\\]|\\.)*`, 'gis'), `$1$2${MASK}`],
  // The same inside a JSON string.
  [new RegExp(String.raw`${ASSIGNED_NAME}(\\+"\s*:\s*\\+")(?:[^"\\]|\\+(?!["\\]))*`, 'gis'), `$1$2${MASK}`],
];

const MAX_DEPTH = 8;
/** A log line longer than this helps nobody, and matching shapes in it would cost everybody time. */
const MAX_TEXT_LENGTH = 32_768;
/** The same for a whole value: an upstream's error may hold any number of texts just below that length. */
const MAX_VALUE_LENGTH = 131_072;
const MAX_NODES = 5_000;
/** Where a text was cut, half a secret may no longer look like one. */
const TRUNCATION_MARGIN = 1_024;

export interface Redactor {
  text(value: string): string;
  /** A deep copy with secrets masked: by field name, by shape, by exact value. Never throws. */
  value(value: unknown): unknown;
}

/**
 * Masks secrets on their way to a log or an error body. `live` are values known to be secret right now (the request's
 * own token, configured keys): they are scrubbed wherever they stand, whatever their shape.
 */
export function createRedactor(liveSecrets: readonly string[] = []): Redactor {
  // Short values would mask half of a log and hide nothing.
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
    // JSON knows no such number, and a log line must not throw.
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return '[too deep]';
    // Also what would be shown twice: a graph whose nodes share nodes is exponential when written out.
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
    // Bytes are keys or bodies; neither belongs in a log.
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString();
    if (value instanceof URL) return text(value.href);
    if (Array.isArray(value)) return value.map(redactChild);
    if (value instanceof Set) return [...value].map(redactChild);
    if (value instanceof Map || value instanceof Headers) return redactFields([...value], redactChild);
    const redactedFields = redactFields(Object.entries(value), redactChild);
    if (!isNativeError(value) && !(value instanceof Error)) return redactedFields;
    // What an error keeps out of its enumerable fields is what a reader of the log wants most.
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

/** What one walk has met so far. */
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

/** How a secret looks in plain text, in a JSON string, in a URL and in a form. */
function encodedForms(secret: string): string[] {
  // Over bytes, because half a surrogate pair would make the encoder throw.
  const url = encodeURIComponent(Buffer.from(secret).toString());
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  return [secret, JSON.stringify(secret).slice(1, -1), url, form];
}
