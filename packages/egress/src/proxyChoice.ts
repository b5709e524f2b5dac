import type { Audience } from './judge.ts';
import { compileNoProxy } from './noProxy.ts';
import { parseProxy, type Proxy } from './proxyUrl.ts';
import { rangeOf } from './ranges.ts';
import type { Target } from './target.ts';

/** The proxy for a target, or undefined for a direct connection. */
export type ProxyChoice = (target: Target) => Proxy | undefined;

/** The environment as a record: this package never reads the real one. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** Whose requests, and the proxy that their server's own definition names. */
export interface ProxyWish {
  readonly audience: Audience;
  readonly own: string | undefined;
}

/**
 * Who decides, in order: the server's own `proxy`, then `PROXY`, then the standard variables with NO_PROXY. As in
 * curl, a variable's lower-case form wins, and set to empty it switches its upper-case twin off.
 *
 * What is on this machine is asked directly: credentials may go there in clear text because they do not leave it, and
 * for a proxy its loopback is another machine. Only who wrote one beside a server's own address may want it otherwise,
 * and for secrets of the gateway itself nobody.
 */
export function compileProxyChoice(env: ProxyEnvironment): (wish: ProxyWish) => ProxyChoice {
  const general = nonEmpty(env.PROXY);
  const everywhere = general === undefined ? undefined : parseProxy('PROXY', general);
  const standard = { http: fromVariables(env, 'http_proxy'), https: fromVariables(env, 'https_proxy') };
  const direct = compileNoProxy(variable(env, 'no_proxy') ?? '');

  function fromEnvironment(target: Target): Proxy | undefined {
    if (everywhere) return everywhere;
    const choice = target.tls ? standard.https : standard.http;
    return choice && !direct(target) ? choice : undefined;
  }

  return ({ audience, own }) => {
    const named = own === undefined ? undefined : parseProxy('proxy', own);
    return (target) => {
      if (isLoopback(target)) return audience === 'identity' ? undefined : named;
      return named ?? fromEnvironment(target);
    };
  };
}

/** As it is written: a name is never resolved to find out. */
function isLoopback({ host, literal }: Target): boolean {
  if (literal) return rangeOf(literal)?.name.startsWith('loopback') === true;
  // RFC 6761, section 6.3.
  return host === 'localhost' || host.endsWith('.localhost');
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
