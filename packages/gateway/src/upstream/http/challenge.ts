import type { Challenge } from '../upstreamError.ts';

/** More than any honest server sends; what lies behind it is not read. */
const LONGEST = 8_192;
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

interface Parsed {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

/**
 * The challenge of a 401 or 403 (RFC 9110, section 11.6.1): the first Bearer one, else the first. The server wrote it,
 * so it is read in one pass without backtracking, and whatever makes no sense is stepped over.
 */
export function readChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined) return undefined;
  const challenges = parse(header.slice(0, LONGEST));
  const chosen = challenges.find(({ scheme }) => scheme === 'bearer') ?? challenges[0];
  if (!chosen) return undefined;
  const { scheme, parameters } = chosen;
  return {
    scheme,
    error: parameters.get('error'),
    scope: parameters.get('scope'),
    resourceMetadata: parameters.get('resource_metadata'),
    claims: parameters.get('claims'),
  };
}

function parse(text: string): Parsed[] {
  const found: Parsed[] = [];
  let at = 0;

  function token(): string {
    const start = at;
    while (at < text.length && TOKEN.test(text.charAt(at))) at += 1;
    return text.slice(start, at);
  }

  function blanks(): void {
    while (text.charAt(at) === ' ' || text.charAt(at) === '\t') at += 1;
  }

  function quoted(): string {
    let value = '';
    for (at += 1; at < text.length && text.charAt(at) !== '"'; at += 1) {
      if (text.charAt(at) === '\\') at += 1;
      value += text.charAt(at);
    }
    at += 1;
    return value;
  }

  while (at < text.length) {
    const name = token().toLowerCase();
    if (name === '') {
      // A comma, a blank, or something that has no business here.
      at += 1;
      continue;
    }
    blanks();
    const current = found.at(-1);
    if (text.charAt(at) !== '=' || !current) {
      found.push({ scheme: name, parameters: new Map() });
      continue;
    }
    at += 1;
    blanks();
    const value = text.charAt(at) === '"' ? quoted() : token();
    // A parameter stands once (section 11.2); a second one must not replace what was read.
    if (!current.parameters.has(name)) current.parameters.set(name, value);
  }
  return found;
}
