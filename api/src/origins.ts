import { isLoopbackHost, type Env } from '@behalf/contracts';

const ANY_ADDRESS = new Set(['0.0.0.0', '::', '[::]']);

/** Where people reach the gateway. */
export interface Origins {
  /** For links we print and redirect to. */
  readonly base: string;
  /** Whether cookies may be sent over https alone. */
  readonly secure: boolean;
  /** Bound to more than loopback, and nobody said under which address: other browsers' origins are unknown to us. */
  readonly onlyLoopbackCanSignIn: boolean;
  /** Whether a browser's `Origin` is our own page. The Host header has no say: whoever rebinds a name also sends it. */
  isOwn(origin: string): boolean;
  /**
   * Whether a request for this host is meant for us. Bound to loopback, only loopback's names are: a page that rebinds
   * its own name to 127.0.0.1 is same-origin with itself, and would otherwise pass as a program.
   */
  acceptsHost(host: string | undefined): boolean;
}

export function createOrigins({ PUBLIC_URL, HOST }: Pick<Env, 'PUBLIC_URL' | 'HOST'>, port: number): Origins {
  if (PUBLIC_URL !== undefined) {
    const { origin, protocol } = new URL(PUBLIC_URL);
    return {
      base: origin,
      secure: protocol === 'https:',
      onlyLoopbackCanSignIn: false,
      isOwn: (other) => other === origin,
      acceptsHost: () => true,
    };
  }
  const loopback = isLoopbackHost(HOST);
  const everywhere = ANY_ADDRESS.has(HOST);
  const names = loopback || everywhere ? ['localhost', '127.0.0.1', '[::1]'] : [bracketed(HOST)];
  const own = new Set(names.map((name) => `http://${name}:${port}`));
  return {
    base: `http://${names[0] ?? 'localhost'}:${port}`,
    secure: false,
    onlyLoopbackCanSignIn: everywhere,
    isOwn: (other) => own.has(other),
    acceptsHost: (host) => !loopback || isLoopbackHost((host ?? '').replace(/:\d+$/, '')),
  };
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
