import { secretMask } from '@behalf/contracts';
import { type RawTemplate, formatPlaceholder, parseTemplate } from '../template/template.ts';

/**
 * A text in which each `${NAME}` and `{{NAME}}` is replaced by one marker character, so that the rest can be
 * inspected.
 */
interface MarkedText {
  readonly text: string;
  /** Restores the references as written. A default value is literal text, so it is masked. */
  restore(text: string): string;
}

/** Private-use characters (Unicode), which ordinary text does not contain. */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;
const privateUsePattern = /[\uE000-\uF8FF]/;
const markRange = '\\uE000-\\uF8FF';
const literalPattern = new RegExp(`[^${markRange}]+`, 'g');

/** Undefined if references cannot be recognized. Then the whole text may be secret. */
export function markReferences(text: string): MarkedText | undefined {
  const parsed = parseTemplate(text);
  if (privateUsePattern.test(text) || !parsed.ok || parsed.template.length > LAST_MARK - FIRST_MARK)
    return undefined;
  const references: string[] = [];
  const marked = parsed.template.map((part) => {
    if (part.kind === 'literal') return part.text;
    references.push(maskReference(part));
    return String.fromCharCode(FIRST_MARK + references.length - 1);
  });
  return {
    text: marked.join(''),
    restore: (masked) =>
      masked.replace(
        new RegExp(`[${markRange}]`, 'g'),
        (mark) => references[mark.charCodeAt(0) - FIRST_MARK] ?? '',
      ),
  };
}

/** Masks everything except the markers. */
export function maskLiterals(marked: string): string {
  return marked.replace(literalPattern, secretMask);
}

function maskReference(part: Exclude<RawTemplate[number], { kind: 'literal' }>): string {
  if (part.kind !== 'env') return formatPlaceholder(part);
  const { name, fallback } = part;
  if (!fallback) return `\${${name}}`;
  const mask = fallback.text === '' ? '' : secretMask;
  return `\${${name}${fallback.appliesWhenEmpty ? ':-' : '-'}${mask}}`;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a word looks random, such as a key. Prefers false positives. */
function isRandomLooking(word: string): boolean {
  return word.length >= 40 || (word.length >= 20 && /[0-9]/.test(word) && /[A-Za-z]/.test(word));
}

function isUuid(word: string): boolean {
  return UUID.test(word);
}

/** Starts like a URL, with a placeholder, or as a path of this site. */
const ADDRESS = new RegExp(`^(?:[a-z][a-z0-9+.-]*://|[${markRange}]|/)`, 'i');
const URL_PARTS = new RegExp(
  `^((?:[a-z][a-z0-9+.-]*|[${markRange}]):/*|/*)([^/?#]*)([^?#]*)(?:\\?([^#]*))?(?:#(.*))?$`,
  'is',
);
const PARAMETER = /^([A-Za-z_][\w.[\]-]{0,39})=(.*[^=].*)$/s;

interface AddressOptions {
  /**
   * Keeps UUIDs in a path: a tenant ID is part of an identity provider's URL. In other URLs, an ID in a path may
   * grant access.
   */
  readonly shouldKeepIds?: boolean;
}

/**
 * Shows a URL without its secrets: user, password, query values, fragment, and random-looking parts of the path.
 * Text that does not parse as a URL is masked completely.
 */
export function maskAddress(text: string, { shouldKeepIds = false }: AddressOptions = {}): string {
  const marked = markReferences(text);
  if (!marked) return secretMask;
  const parts = URL_PARTS.exec(marked.text);
  // A backslash may separate segments, depending on the scheme. A password with a slash looks like a path.
  const isUnclear =
    !ADDRESS.test(marked.text) || marked.text.includes('\\') || /[^/]@/.test(parts?.[3] ?? '');
  if (!parts || isUnclear || /^data:/i.test(marked.text)) return marked.restore(maskLiterals(marked.text));
  const [, scheme = '', authority = '', path = '', query, fragment] = parts;
  const segment = (word: string) => {
    const literal = word.replace(new RegExp(`[${markRange}]`, 'g'), '');
    return isRandomLooking(literal) && !(shouldKeepIds && isUuid(literal)) ? maskLiterals(word) : word;
  };
  return marked.restore(
    [
      scheme,
      maskAuthority(authority),
      path.split('/').map(segment).join('/'),
      query === undefined ? '' : `?${query.split('&').map(maskParameter).join('&')}`,
      fragment === undefined ? '' : `#${maskLiterals(fragment)}`,
    ].join(''),
  );
}

function maskAuthority(authority: string): string {
  const atSign = authority.lastIndexOf('@');
  if (atSign < 0) return authority;
  const userinfo = authority.slice(0, atSign).split(':').map(maskLiterals).join(':');
  return userinfo + authority.slice(atSign);
}

/** Shows the name only if it is certain: a key may itself end in equals signs. */
function maskParameter(parameter: string): string {
  const [, name, value = ''] = PARAMETER.exec(parameter) ?? [];
  if (name === undefined || isRandomLooking(name)) return maskLiterals(parameter);
  return `${name}=${maskLiterals(value)}`;
}

const FLAG = /^(?:-[A-Za-z]|--[A-Za-z][A-Za-z0-9-]*)$/;
const FLAG_WITH_VALUE = /^(--?[A-Za-z][A-Za-z0-9-]*=)(.*)$/s;
/** Flags that precede the name of a program or package. */
const FLAGS_BEFORE_NAMES: ReadonlySet<string> = new Set(['-y', '--yes', '-m', '-p', '--package', '--from']);
const SECRET_FLAG =
  /auth|key|token|secret|pass|pwd|cred|cookie|session|sig|jwt|pat\b|bearer|header|user|env/i;
const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A path, or the name of a scoped package. */
const PATH = new RegExp(`^(?:[${markRange}]|\\.{0,2}/|~/|@[a-z0-9._-]+/)[\\w./@~^-]*$`);
const FILE = /^[\w./-]*\w\.(?:[cm]?[jt]s|py|jar|rb|sh|json|ya?ml|toml)$/;
/** Package names that identify an MCP server. Any other word may be a password. */
const SERVER_NAME = /^(?:[a-z0-9]+-)*(?:mcp|server)(?:-[a-z0-9]+)*(?:@[\w.^~-]+)?$/;

/** Masks program arguments except flags, URLs, paths and server names. */
export function maskArguments(args: unknown): unknown {
  if (!Array.isArray(args)) return secretMask;
  let previous: string | undefined;
  return args.map((arg: unknown) => {
    const maskedArg = typeof arg === 'string' ? maskArgument(arg, previous) : secretMask;
    previous = typeof arg === 'string' ? arg : undefined;
    return maskedArg;
  });
}

function maskArgument(arg: string, previous: string | undefined): string {
  const marked = markReferences(arg);
  if (!marked) return secretMask;
  const flag = previous !== undefined && previous.startsWith('-') ? previous : undefined;
  const { text } = marked;
  const [, name, value = ''] = FLAG_WITH_VALUE.exec(text) ?? [];
  if (name !== undefined) return marked.restore(name + maskLiterals(value));
  if (isSecretFlagValue(flag)) return marked.restore(maskLiterals(text));
  if (URL_LIKE.test(text)) return maskAddress(arg);
  return isNonSecret(text, flag) ? marked.restore(text) : marked.restore(maskLiterals(text));
}

/** Whether a secret follows the flag. */
function isSecretFlagValue(flag: string | undefined): boolean {
  return flag !== undefined && !flag.includes('=') && SECRET_FLAG.test(flag) && !FLAGS_BEFORE_NAMES.has(flag);
}

function isNonSecret(text: string, flag: string | undefined): boolean {
  if (text.split(/[/=@]/).some(isRandomLooking)) return false;
  if (FLAG.test(text) || PATH.test(text) || FILE.test(text)) return true;
  return SERVER_NAME.test(text) && (flag === undefined || FLAGS_BEFORE_NAMES.has(flag));
}
