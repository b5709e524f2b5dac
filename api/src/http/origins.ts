import { type Env, isLoopbackHost } from '@behalf/contracts';
import { type SessionCookie, createSessionCookie } from './cookies.ts';

const ANY_ADDRESS = new Set(['0.0.0.0', '::', '[::]']);

/** The origins at which browsers reach the gateway. */
export interface Origins {
  /** The base of the URLs that the gateway prints and redirects to. */
  readonly baseUrl: string;
  /** True if cookies are sent over https only. */
  readonly secure: boolean;
  /** The gateway listens on all addresses without PUBLIC_URL, so it only knows the origin of browsers on this host. */
  readonly onlyLoopbackCanSignIn: boolean;
  /** Whether an `Origin` header names our own pages. The Host header is not used: a DNS rebinding page sends it as well. */
  isOwnOrigin(origin: string): boolean;
  /**
   * Whether a Host header is accepted. On loopback only loopback names are: a page that rebinds its own name to 127.0.0.1
   * is same-origin with itself and would otherwise pass as a program (DNS rebinding).
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

/** The address of this process. With PORT=0 the port, and so the origins, are known only once the server listens. */
export interface PublicAddress {
  readonly origins: () => Origins;
  readonly baseUrl: () => string;
  readonly cookie: () => SessionCookie;
  /** The sockets of this process. Egress refuses to connect to them. */
  readonly listeners: () => readonly { address: string; port: number }[];
  /** Returns the base URL. */
  readonly onListening: (port: number) => string;
}

export function createPublicAddress(env: Pick<Env, 'PUBLIC_URL' | 'HOST' | 'PORT'>): PublicAddress {
  let origins = createOrigins(env, env.PORT);
  let cookie = createSessionCookie(origins);
  let listeners: readonly { address: string; port: number }[] = [];
  return {
    origins: () => origins,
    baseUrl: () => origins.baseUrl,
    cookie: () => cookie,
    listeners: () => listeners,
    onListening(port) {
      listeners = [{ address: env.HOST.replace(/^\[|\]$/g, ''), port }];
      origins = createOrigins(env, port);
      cookie = createSessionCookie(origins);
      return origins.baseUrl;
    },
  };
}
