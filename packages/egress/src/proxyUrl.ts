import { parseUrl } from '@behalf/contracts';
import { EgressPolicyError } from './errors.ts';
import { parseHost } from './target.ts';

/** A proxy, read from its URL once. */
export interface Proxy {
  readonly kind: 'http' | 'https' | 'socks5';
  readonly host: string;
  readonly port: number;
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
}

const PROXY_KINDS: Readonly<Record<string, readonly [kind: Proxy['kind'], port: number]>> = {
  'http:': ['http', 80],
  'https:': ['https', 443],
  'socks:': ['socks5', 1080],
  'socks5:': ['socks5', 1080],
  'socks5h:': ['socks5', 1080],
};

/** `where` names the setting or the variable in the error. */
export function parseProxy(settingName: string, text: string): Proxy {
  // A bare host:port is common in proxy variables.
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = parseUrl(withScheme) && new URL(withScheme);
  const kindAndPort = url && PROXY_KINDS[url.protocol];
  const host = url && parseHost(url.hostname);
  if (!url || !kindAndPort || host === undefined) {
    throw new EgressPolicyError([settingName], 'is not a proxy URL: use http, https or socks5 with a host');
  }
  const [kind, standardPort] = kindAndPort;
  return {
    kind,
    host,
    port: url.port === '' ? standardPort : Number(url.port),
    credentials:
      url.username === '' && url.password === ''
        ? undefined
        : {
            username: decodeCredential(settingName, url.username),
            password: decodeCredential(settingName, url.password),
          },
  };
}

function decodeCredential(settingName: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new EgressPolicyError([settingName], 'has credentials that are not percent-encoded correctly');
  }
}
