import { Problem, parseUrl } from '@behalf/contracts';
import { CliError, stopped, usageError } from '../cliError.ts';
import type { Io } from '../io.ts';
import { explainProblem, GatewayProblem } from './explainProblem.ts';

const DEFAULT_URL = 'http://localhost:3080';
const PATIENCE_MS = 60_000;

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly patienceMs?: number;
  /** Also when somebody stopped the command: what tidies up. */
  readonly isLast?: boolean;
}

/** The shape of an answer: a schema of the contracts. */
export interface Shape<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

/** The gateway over REST: the only thing that commands talk to. */
export interface Gateway {
  readonly url: string;
  /** Throws `CliError`, or `GatewayProblem` for what the gateway says no to. */
  ask<T>(path: string, shape: Shape<T>, asked?: Asked): Promise<T>;
}

export function createGateway(
  io: Pick<Io, 'env' | 'fetch' | 'interrupted' | 'err'>,
  given: { readonly url: string | undefined; readonly insecure: boolean },
): Gateway {
  const base = baseUrl(given.url ?? io.env['BEHALF_URL'] ?? DEFAULT_URL);
  const key = keyOf(io.env);
  if (base.protocol === 'http:' && !isLocal(base.hostname)) {
    if (!given.insecure && !isOn(io.env['BEHALF_INSECURE'])) throw unencrypted(base);
    io.err(`Your key travels to ${base.host} unencrypted. Use https where you can.\n`);
  }

  async function send(
    path: string,
    { method = 'GET', body, patienceMs = PATIENCE_MS, isLast = false }: Asked,
  ): Promise<Response> {
    try {
      return await io.fetch(new URL(path, base), {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // The key is for this gateway and for nobody it points at.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(patienceMs), ...(isLast ? [] : [io.interrupted])]),
      });
    } catch {
      if (io.interrupted.aborted) throw stopped();
      throw new CliError('unreachable', `The gateway at ${base.origin} does not answer.`, {
        code: 'unreachable',
        action: 'Start it, or say where it is with BEHALF_URL.',
      });
    }
  }

  return {
    url: base.origin,
    async ask(path, shape, asked = {}) {
      const response = await send(path, asked);
      const value: unknown = await response.json().catch(() => undefined);
      if (!response.ok) throw problemOf(response, value, base);
      const read = shape.safeParse(value);
      if (read.success) return read.data;
      throw new CliError('failed', `${base.origin} answered in a way that is not understood here.`, {
        code: 'answer_unknown',
        action: 'Use the command of the same version as the gateway.',
      });
    },
  };
}

function problemOf(response: Response, value: unknown, base: URL): CliError {
  const problem = Problem.safeParse(value);
  if (problem.success) return new GatewayProblem(problem.data, explainProblem(problem.data));
  return new CliError(
    'unreachable',
    `What answers at ${base.origin} is no Behalf gateway (${response.status}).`,
    {
      code: 'no_gateway',
      action: 'Check BEHALF_URL.',
    },
  );
}

function baseUrl(text: string): URL {
  const url = parseUrl(text) && new URL(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw usageError('BEHALF_URL is no http(s) address.');
  // It would be printed and sent along.
  if (url.username !== '' || url.password !== '')
    throw usageError('BEHALF_URL may not hold a name or a password.');
  return url;
}

/** Whoever is on the way could read the key and use it. That is for its owner to accept, once and in words. */
function unencrypted({ host }: URL): CliError {
  return new CliError('usage', `Your key would travel to ${host} unencrypted. Nothing was sent.`, {
    code: 'unencrypted',
    action:
      'Use https. Where the way there is safe all the same, say --insecure or set BEHALF_INSECURE=true.',
  });
}

function keyOf(env: Io['env']): string {
  const key = (env['BEHALF_API_KEY'] ?? '').trim();
  if (key === '') {
    throw new CliError('forbidden', 'There is no key: BEHALF_API_KEY is not set.', {
      code: 'key_missing',
      action:
        'Make one in the settings of the interface, with the scope mcp; servers too to add or remove servers, bring a token or log out.',
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key))
    throw usageError('BEHALF_API_KEY is no API key: it holds blanks or other signs.');
  return key;
}

function isOn(variable = ''): boolean {
  return /^(true|1)$/i.test(variable);
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
