import type { Challenge } from '../upstreamError.ts';

/** More than any honest server sends; what lies behind it is not read. */
const MAX_HEADER_LENGTH = 8_192;
const TOKEN_CHARACTER = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

interface ParsedChallenge {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

/**
 * The challenge of a 401 or 403 (RFC 9110, section 11.6.1): the first Bearer one, else the first. The server wrote it,
 * so it is read in one pass without backtracking, and whatever makes no sense is stepped over.
 */
export function readChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined) return undefined;
  const challenges = parseChallenges(header.slice(0, MAX_HEADER_LENGTH));
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

function parseChallenges(text: string): ParsedChallenge[] {
  const challenges: ParsedChallenge[] = [];
  let position = 0;

  function readToken(): string {
    const start = position;
    while (position < text.length && TOKEN_CHARACTER.test(text.charAt(position))) position += 1;
    return text.slice(start, position);
  }

  function skipBlanks(): void {
    while (text.charAt(position) === ' ' || text.charAt(position) === '\t') position += 1;
  }

  function readQuoted(): string {
    let value = '';
    for (position += 1; position < text.length && text.charAt(position) !== '"'; position += 1) {
      if (text.charAt(position) === '\\') position += 1;
      value += text.charAt(position);
    }
    position += 1;
    return value;
  }

  while (position < text.length) {
    const name = readToken().toLowerCase();
    if (name === '') {
      // A comma, a blank, or something that has no business here.
      position += 1;
      continue;
    }
    skipBlanks();
    const current = challenges.at(-1);
    if (text.charAt(position) !== '=' || !current) {
      challenges.push({ scheme: name, parameters: new Map() });
      continue;
    }
    position += 1;
    skipBlanks();
    const value = text.charAt(position) === '"' ? readQuoted() : readToken();
    // A parameter stands once (section 11.2); a second one must not replace what was read.
    if (!current.parameters.has(name)) current.parameters.set(name, value);
  }
  return challenges;
}
