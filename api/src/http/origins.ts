import { type Env, isLoopbackHost } from '@behalf/contracts';

const ANY_ADDRESS = new Set(['0.0.0.0', '::', '[::]']);

/** Where people reach the gateway. */
export interface Origins {
  /** For links we print and redirect to. */
  readonly baseUrl: string;
  /** Whether cookies may be sent over https alone. */
  readonly secure: boolean;
  /** Bound to more than loopback, and nobody said under which address: other browsers' origins are unknown to us. */
  readonly onlyLoopbackCanSignIn: boolean;
  /** Whether a browser's `Origin` is our own page. The Host header has no say: whoever rebinds a name also sends it. */
  isOwnOrigin(origin: string): boolean;
  /**
   * Whether a request for this host is meant for us. Bound to loopback, only loopback's names are: a page that rebinds
   * its own name to 127.0.0.1 is same-origin with itself, and would otherwise pass as a program.
   */
  isAllowedHost(host: string | undefined): boolean;
}

export function createOrigins({ PUBLIC_URL, HOST }: Pick<Env, 'PUBLIC_URL' | 'HOST'>, port: number): Origins {
  if (PUBLIC_URL !== undefined) {
    const { origin, protocol } = new URL(PUBLIC_URL);
    return {
      baseUrl: origin,
      secure: protocol === 'https:',
      onlyLoopbackCanSignIn: false,
      isOwnOrigin: (other) => other === origin,
      isAllowedHost: () => true,
    };
  }
  const isLoopback = isLoopbackHost(HOST);
  const isAnyAddress = ANY_ADDRESS.has(HOST);
  const hostNames = isLoopback || isAnyAddress ? ['localhost', '127.0.0.1', '[::1]'] : [bracketIpv6(HOST)];
  const ownOrigins = new Set(hostNames.map((name) => `http://${name}:${port}`));
  return {
    baseUrl: `http://${hostNames[0] ?? 'localhost'}:${port}`,
    secure: false,
    onlyLoopbackCanSignIn: isAnyAddress,
    isOwnOrigin: (other) => ownOrigins.has(other),
    isAllowedHost: (host) => !isLoopback || isLoopbackHost((host ?? '').replace(/:\d+$/, '')),
  };
}

function bracketIpv6(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
