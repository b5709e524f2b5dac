import type { Audience } from './targetCheck.ts';
import { compileNoProxy } from './noProxy.ts';
import { parseProxy, type Proxy } from './proxyUrl.ts';
import { findRange } from './ranges.ts';
import type { NetworkTarget } from './target.ts';

/** The proxy for a target, or undefined for a direct connection. */
export type ProxySelector = (target: NetworkTarget) => Proxy | undefined;

/** The environment as a record: this package never reads the real one. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** Whose requests, and the proxy that their server's own definition names. */
export interface ProxyPreference {
  readonly audience: Audience;
  readonly configuredProxy: string | undefined;
}

/**
 * Who decides, in order: the server's own `proxy`, then `PROXY`, then the standard variables with NO_PROXY. As in
 * curl, a variable's lower-case form wins, and set to empty it switches its upper-case twin off.
 *
 * What is on this machine is asked directly: credentials may go there in clear text because they do not leave it, and
 * for a proxy its loopback is another machine. Only who wrote one beside a server's own address may want it otherwise,
 * and for secrets of the gateway itself nobody.
 */
export function compileProxySelector(env: ProxyEnvironment): (preference: ProxyPreference) => ProxySelector {
  const proxyVariable = trimToUndefined(env.PROXY);
  const globalProxy = proxyVariable === undefined ? undefined : parseProxy('PROXY', proxyVariable);
  const schemeProxies = {
    http: proxyFromVariables(env, 'http_proxy'),
    https: proxyFromVariables(env, 'https_proxy'),
  };
  const bypassesProxy = compileNoProxy(readVariable(env, 'no_proxy') ?? '');

  function proxyFromEnvironment(target: NetworkTarget): Proxy | undefined {
    if (globalProxy) return globalProxy;
    const proxy = target.tls ? schemeProxies.https : schemeProxies.http;
    return proxy && !bypassesProxy(target) ? proxy : undefined;
  }

  return ({ audience, configuredProxy }) => {
    const serverProxy = configuredProxy === undefined ? undefined : parseProxy('proxy', configuredProxy);
    return (target) => {
      if (isLoopback(target)) return audience === 'identity' ? undefined : serverProxy;
      return serverProxy ?? proxyFromEnvironment(target);
    };
  };
}

/** As it is written: a name is never resolved to find out. */
function isLoopback({ host, ipAddress }: NetworkTarget): boolean {
  if (ipAddress) return findRange(ipAddress)?.name.startsWith('loopback') === true;
  // RFC 6761, section 6.3.
  return host === 'localhost' || host.endsWith('.localhost');
}

function proxyFromVariables(env: ProxyEnvironment, name: string): Proxy | undefined {
  for (const candidate of [name, 'all_proxy']) {
    const value = readVariable(env, candidate);
    if (value !== undefined) return value === '' ? undefined : parseProxy(candidate.toUpperCase(), value);
  }
  return undefined;
}

/** Undefined when neither form is set; an empty lower-case form is an answer: none. */
function readVariable(env: ProxyEnvironment, name: string): string | undefined {
  return env[name]?.trim() ?? trimToUndefined(env[name.toUpperCase()]);
}

function trimToUndefined(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
