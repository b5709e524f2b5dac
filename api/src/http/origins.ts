import { type Env, isLoopbackHost } from '@behalf/contracts';
import { type SessionCookie, createSessionCookie } from './cookies.ts';

/** The origins at which browsers reach the gateway. */
export interface Origins {
  /** The base of the URLs that the gateway prints and redirects to. */
  readonly baseUrl: string;
  /** True if cookies are sent over https only. */
  readonly secure: boolean;
  /** Without PUBLIC_URL, a gateway that listens on all addresses only knows the origin of browsers on its own host. */
  readonly onlyLoopbackCanSignIn: boolean;
  /** Whether an `Origin` header names our own pages. The Host header does not prove that (DNS rebinding). */
  isOwnOrigin(origin: string): boolean;
  /**
   * Whether a Host header is accepted. A gateway on loopback accepts loopback names only. Otherwise a page that rebinds its
   * own name to 127.0.0.1 (DNS rebinding) would be same-origin with the gateway and pass as a program.
   */
  isAllowedHost(host: string | undefined): boolean;
}

const ANY_ADDRESS = new Set(['0.0.0.0', '::', '[::]']);
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const;

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
  const hostNames = isLoopback || isAnyAddress ? LOOPBACK_NAMES : ([bracketIpv6(HOST)] as const);
  const ownOrigins = new Set(hostNames.map((name) => `http://${name}:${port}`));
  return {
    baseUrl: `http://${hostNames[0]}:${port}`,
    secure: false,
    onlyLoopbackCanSignIn: isAnyAddress,
    isOwnOrigin: (other) => ownOrigins.has(other),
    isAllowedHost: (host) => !isLoopback || isLoopbackHost((host ?? '').replace(/:\d+$/, '')),
  };
}

function bracketIpv6(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** A socket on which this process listens. */
interface Listener {
  readonly address: string;
  readonly port: number;
}

/** The address of this process. With PORT=0 the port, and so the origins, are known only once the server listens. */
export interface PublicAddress {
  readonly origins: () => Origins;
  readonly baseUrl: () => string;
  readonly cookie: () => SessionCookie;
  /** Egress refuses to connect to these sockets. */
  readonly listeners: () => readonly Listener[];
  /** Sets the port. Returns the base URL. */
  readonly onListening: (port: number) => string;
}

export function createPublicAddress(env: Pick<Env, 'PUBLIC_URL' | 'HOST' | 'PORT'>): PublicAddress {
  let origins = createOrigins(env, env.PORT);
  let cookie = createSessionCookie(origins);
  let listeners: readonly Listener[] = [];
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
