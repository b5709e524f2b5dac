import { secretMask } from '@behalf/contracts';
import { isRandomLooking } from './looksRandom.ts';
import { maskAddress } from './maskAddress.ts';
import { markReferences, maskLiterals, markRange } from './references.ts';

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
