import { compileNoProxy } from './noProxy.ts';
import { parseProxy, type Proxy } from './proxyUrl.ts';
import type { Target } from './target.ts';

/** The proxy for a target, or undefined for a direct connection. */
export type ProxyChoice = (target: Target) => Proxy | undefined;

/** The environment as a record: this package never reads the real one. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Who decides, in order: the server's own `proxy`, then `PROXY`, then the standard variables with NO_PROXY. As in
 * curl, a variable's lower-case form wins, and set to empty it switches its upper-case twin off.
 */
export function compileProxyChoice(env: ProxyEnvironment): (own: string | undefined) => ProxyChoice {
  const general = nonEmpty(env.PROXY);
  const everywhere = general === undefined ? undefined : parseProxy('PROXY', general);
  const standard = { http: fromVariables(env, 'http_proxy'), https: fromVariables(env, 'https_proxy') };
  const direct = compileNoProxy(variable(env, 'no_proxy') ?? '');

  return (own) => {
    const proxy = own === undefined ? everywhere : parseProxy('proxy', own);
    if (proxy) return () => proxy;
    return (target) => {
      const choice = target.tls ? standard.https : standard.http;
      return choice && !direct(target) ? choice : undefined;
    };
  };
}

function fromVariables(env: ProxyEnvironment, name: string): Proxy | undefined {
  for (const candidate of [name, 'all_proxy']) {
    const value = variable(env, candidate);
    if (value !== undefined) return value === '' ? undefined : parseProxy(candidate.toUpperCase(), value);
  }
  return undefined;
}

/** Undefined when neither form is set; an empty lower-case form is an answer: none. */
function variable(env: ProxyEnvironment, name: string): string | undefined {
  return env[name]?.trim() ?? nonEmpty(env[name.toUpperCase()]);
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
