import { secretMask } from '@behalf/contracts';
import { type RawTemplate, formatPlaceholder, parseTemplate } from '../template/template.ts';

/** A text whose `${NAME}` and `{{NAME}}` stand as one character each, so that the rest can be looked at for itself. */
interface MarkedText {
  readonly text: string;
  /** Puts them back as they are written; a default is a literal, so it is masked. */
  restore(text: string): string;
}

/** Characters that no text has a use for. */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;
const privateUsePattern = /[\uE000-\uF8FF]/;
const markRange = '\\uE000-\\uF8FF';
const literalPattern = new RegExp(`[^${markRange}]+`, 'g');

/** Undefined when it cannot be told what is a reference: then all of it may be a secret. */
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

/** Of a text with marks: everything but those is a secret. */
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

/** Whether a word seems to be there to be unguessable. Too many rather than too few. */
function isRandomLooking(word: string): boolean {
  return word.length >= 40 || (word.length >= 20 && /[0-9]/.test(word) && /[A-Za-z]/.test(word));
}

function isUuid(word: string): boolean {
  return UUID.test(word);
}

/** Begins like a URL, with something that is filled in, or as a path of this site. */
const ADDRESS = new RegExp(`^(?:[a-z][a-z0-9+.-]*://|[${markRange}]|/)`, 'i');
const URL_PARTS = new RegExp(
  `^((?:[a-z][a-z0-9+.-]*|[${markRange}]):/*|/*)([^/?#]*)([^?#]*)(?:\\?([^#]*))?(?:#(.*))?$`,
  'is',
);
const PARAMETER = /^([A-Za-z_][\w.[\]-]{0,39})=(.*[^=].*)$/s;

interface AddressOptions {
  /** A tenant is part of the address of an identity provider. Elsewhere an id in a path may be what opens it. */
  readonly shouldKeepIds?: boolean;
}

/**
 * Where something is, without what opens it: user, password, the values of a query, a fragment, and parts of a path that
 * nobody could guess. What does not read as an address is masked whole.
 */
export function maskAddress(text: string, { shouldKeepIds = false }: AddressOptions = {}): string {
  const marked = markReferences(text);
  if (!marked) return secretMask;
  const parts = URL_PARTS.exec(marked.text);
  // A backslash parts an address or does not, by its scheme; and a password that holds a slash looks like a path.
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

/** The name is shown where it is one for sure: a key alone may end in signs of equality. */
function maskParameter(parameter: string): string {
  const [, name, value = ''] = PARAMETER.exec(parameter) ?? [];
  if (name === undefined || isRandomLooking(name)) return maskLiterals(parameter);
  return `${name}=${maskLiterals(value)}`;
}

const FLAG = /^(?:-[A-Za-z]|--[A-Za-z][A-Za-z0-9-]*)$/;
const FLAG_WITH_VALUE = /^(--?[A-Za-z][A-Za-z0-9-]*=)(.*)$/s;
/** Flags after which the name of a program or of a package comes. */
const FLAGS_BEFORE_NAMES: ReadonlySet<string> = new Set(['-y', '--yes', '-m', '-p', '--package', '--from']);
const SECRET_FLAG =
  /auth|key|token|secret|pass|pwd|cred|cookie|session|sig|jwt|pat\b|bearer|header|user|env/i;
const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A path from somewhere, or the name of a package that has a scope. */
const PATH = new RegExp(`^(?:[${markRange}]|\\.{0,2}/|~/|@[a-z0-9._-]+/)[\\w./@~^-]*$`);
const FILE = /^[\w./-]*\w\.(?:[cm]?[jt]s|py|jar|rb|sh|json|ya?ml|toml)$/;
/** Names of packages that say what they are. Any other word may be a password. */
const SERVER_NAME = /^(?:[a-z0-9]+-)*(?:mcp|server)(?:-[a-z0-9]+)*(?:@[\w.^~-]+)?$/;

/** The arguments of a program: shown are flags, addresses, paths and names of servers, and nothing else. */
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

/** Whether a flag says that a secret follows. */
function isSecretFlagValue(flag: string | undefined): boolean {
  return flag !== undefined && !flag.includes('=') && SECRET_FLAG.test(flag) && !FLAGS_BEFORE_NAMES.has(flag);
}

function isNonSecret(text: string, flag: string | undefined): boolean {
  if (text.split(/[/=@]/).some(isRandomLooking)) return false;
  if (FLAG.test(text) || PATH.test(text) || FILE.test(text)) return true;
  return SERVER_NAME.test(text) && (flag === undefined || FLAGS_BEFORE_NAMES.has(flag));
}
