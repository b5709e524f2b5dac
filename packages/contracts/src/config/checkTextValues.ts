import { createFinding, type Finding, type Path } from './finding.ts';
import { oauthUrls } from './oauth.ts';
import { parseUrl } from './parseUrl.ts';
import type { McpServer } from './transports.ts';

/**
 * The text of a field with its variables filled in, or nothing when they cannot be: that is somebody else's finding.
 * Values that come from users at run time are stood in for by a harmless word.
 */
export type ExpandText = (text: string) => string | undefined;

/** Rules about URLs and header values, which need the expanded text. */
export function checkTextValues(server: McpServer, path: Path, expand: ExpandText): Finding[] {
  const findings: Finding[] = [];
  const checkUrl = (value: string | undefined, keyPath: Path, schemes: readonly string[]): void => {
    const text = value === undefined ? undefined : expand(value);
    if (text === undefined) return;
    const problem = checkUrlText(text, schemes);
    if (problem) findings.push(createFinding(keyPath, 'url', problem));
  };
  if (server.type !== 'stdio') {
    checkUrl(
      server.url,
      [...path, 'url'],
      server.type === 'websocket' ? ['ws:', 'wss:'] : ['http:', 'https:'],
    );
    findings.push(...checkHeaderValues(server.headers, [...path, 'headers'], expand));
  }
  if (server.type === 'sse' || server.type === 'streamable-http') {
    const proxy = server.proxy === undefined ? undefined : expand(server.proxy);
    // Credentials are usual in the URL of a proxy; it is sealed and never shown.
    if (proxy !== undefined) {
      const problem = checkUrlText(proxy, ['http:', 'https:', 'socks:', 'socks5:'], true);
      if (problem) findings.push(createFinding([...path, 'proxy'], 'url', problem));
    }
  }
  const { oauth } = server;
  for (const field of [...oauthUrls, 'redirect_uri', 'issuer'] as const) {
    checkUrl(oauth?.[field], [...path, 'oauth', field], ['http:', 'https:']);
  }
  findings.push(...checkHeaderValues(server.oauth_headers, [...path, 'oauth_headers'], expand));
  return findings;
}

export function checkUrlText(
  text: string,
  schemes: readonly string[],
  allowsCredentials = false,
): string | undefined {
  const list = schemes.map((scheme) => `${scheme}//`).join(' or ');
  const url = parseUrl(text);
  if (!url) return `is not a URL beginning with ${list}`;
  if (!schemes.includes(url.protocol)) return `must begin with ${list}`;
  if (url.hostname === '') return 'has no host';
  if (!allowsCredentials && (url.username !== '' || url.password !== '')) {
    return 'may not contain a user name or password: use headers or apiKey';
  }
  return undefined;
}

function checkHeaderValues(
  headers: Record<string, string> | undefined,
  path: Path,
  expand: ExpandText,
): Finding[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) => {
    const text = expand(value);
    return text !== undefined && hasControlCharacter(text)
      ? [
          createFinding(
            [...path, name],
            'header_value',
            'contains a line break or another control character',
            'write it on one line',
          ),
        ]
      : [];
  });
}

/** A line break inside a header value starts a header of the value's choice (RFC 9110 section 5.5). */
export function hasControlCharacter(text: string): boolean {
  return /[\u0000-\u0008\u000a-\u001f\u007f]/.test(text);
}
