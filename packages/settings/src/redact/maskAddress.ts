import { secretMask } from '@behalf/contracts';
import { isUuid, isRandomLooking } from './looksRandom.ts';
import { markReferences, maskLiterals, markRange } from './references.ts';

/** Begins like a URL, with something that is filled in, or as a path of this site. */
const ADDRESS = new RegExp(`^(?:[a-z][a-z0-9+.-]*://|[${markRange}]|/)`, 'i');
const URL_PARTS = new RegExp(
  `^((?:[a-z][a-z0-9+.-]*|[${markRange}]):/*|/*)([^/?#]*)([^?#]*)(?:\\?([^#]*))?(?:#(.*))?$`,
  'is',
);
const PARAMETER = /^([A-Za-z_][\w.[\]-]{0,39})=(.*[^=].*)$/s;

export interface AddressOptions {
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
