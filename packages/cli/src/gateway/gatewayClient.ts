import { type ErrorCode, Problem, errorKinds, parseUrl } from '@behalf/contracts';
import { CliError, type ExitStatus, createInterruptedError, createUsageError } from '../cliError.ts';
import type { Io } from '../io.ts';

const DEFAULT_URL = 'http://localhost:3080';
const REQUEST_TIMEOUT_MS = 60_000;

interface GatewayRequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** Continues after Ctrl-C. For cleanup requests. */
  readonly ignoresInterrupt?: boolean;
}

/** Validates a response. A schema of `contracts`. */
export interface ResponseSchema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

/** The REST client that all commands use. */
export interface GatewayClient {
  readonly url: string;
  /** Throws `CliError`, or `GatewayProblem` if the gateway returns an error. */
  request<T>(path: string, schema: ResponseSchema<T>, options?: GatewayRequestOptions): Promise<T>;
}

export function createGatewayClient(
  io: Pick<Io, 'env' | 'fetch' | 'interruptSignal' | 'err'>,
  connection: { readonly url: string | undefined; readonly insecure: boolean },
): GatewayClient {
  const base = parseBaseUrl(connection.url ?? io.env['BEHALF_URL'] ?? DEFAULT_URL);
  const key = readApiKey(io.env);
  if (base.protocol === 'http:' && !isLocal(base.hostname)) {
    if (!connection.insecure && !isEnabled(io.env['BEHALF_INSECURE'])) throw createUnencryptedError(base);
    io.err(`Your API key is sent to ${base.host} unencrypted. Use https if possible.\n`);
  }

  async function sendRequest(
    path: string,
    { method = 'GET', body, timeoutMs = REQUEST_TIMEOUT_MS, ignoresInterrupt = false }: GatewayRequestOptions,
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
        // A redirect could send the API key to another host.
        redirect: 'manual',
        signal: AbortSignal.any([
          AbortSignal.timeout(timeoutMs),
          ...(ignoresInterrupt ? [] : [io.interruptSignal]),
        ]),
      });
    } catch {
      if (io.interruptSignal.aborted) throw createInterruptedError();
      throw new CliError('unreachable', `The gateway at ${base.origin} does not respond.`, {
        code: 'unreachable',
        action: 'Start it, or set BEHALF_URL to its URL.',
      });
    }
  }

  return {
    url: base.origin,
    async request(path, schema, options = {}) {
      const response = await sendRequest(path, options);
      const value: unknown = await response.json().catch(() => undefined);
      if (!response.ok) throw toError(response, value, base);
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      throw new CliError('failed', `${base.origin} sent a response that this command does not support.`, {
        code: 'answer_unknown',
        action: 'Use the command of the same version as the gateway.',
      });
    },
  };
}

function toError(response: Response, value: unknown, base: URL): CliError {
  const problem = Problem.safeParse(value);
  if (problem.success) return new GatewayProblem(problem.data, explainProblem(problem.data));
  return new CliError(
    'unreachable',
    `The server at ${base.origin} is not a Behalf gateway (${response.status}).`,
    {
      code: 'no_gateway',
      action: 'Check BEHALF_URL.',
    },
  );
}

function parseBaseUrl(text: string): URL {
  const url = parseUrl(text) && new URL(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw createUsageError('BEHALF_URL is not an http(s) URL.');
  // The URL is printed and sent, so it must not contain a password.
  if (url.username !== '' || url.password !== '')
    throw createUsageError('BEHALF_URL may not contain a user name or a password.');
  return url;
}

/** Without TLS, the network can read the key. The user must accept that explicitly. */
function createUnencryptedError({ host }: URL): CliError {
  return new CliError('usage', `Your API key would be sent to ${host} unencrypted. Nothing was sent.`, {
    code: 'unencrypted',
    action: 'Use https. If the network is trusted, use --insecure or set BEHALF_INSECURE=true.',
  });
}

function readApiKey(env: Io['env']): string {
  const key = (env['BEHALF_API_KEY'] ?? '').trim();
  if (key === '') {
    throw new CliError('forbidden', 'There is no API key: BEHALF_API_KEY is not set.', {
      code: 'key_missing',
      action:
        'Create an API key with the scope mcp in the settings of the web interface. Add the scope servers to add or remove servers, import a token or log out.',
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key))
    throw createUsageError(
      'BEHALF_API_KEY is not an API key: it contains spaces or other invalid characters.',
    );
  return key;
}

function isEnabled(variable = ''): boolean {
  return /^(true|1)$/i.test(variable);
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** An error response of the gateway. */
export class GatewayProblem extends CliError {
  readonly problem: Problem;
  constructor(problem: Problem, { exitStatus, action, problems }: ProblemExplanation) {
    super(exitStatus, problem.detail, { code: problem.code, action, problems });
    this.problem = problem;
  }
}

interface ProblemExplanation {
  readonly exitStatus: ExitStatus;
  readonly action: string | undefined;
  readonly problems: readonly string[] | undefined;
}

function explainProblem({ code, detail, errors }: Problem): ProblemExplanation {
  const { action } = errorKinds[code];
  return {
    exitStatus: getExitStatus(code),
    action: detail.includes(action) ? undefined : action,
    problems: errors?.map(({ path, message, suggestion }) =>
      [[path, message].filter((part) => part !== '').join(' '), suggestion].filter(Boolean).join('; '),
    ),
  };
}

/** A 401 or 403 of the gateway concerns the caller. The error code tells what a server requires of its users. */
export function getExitStatus(code: ErrorCode): ExitStatus {
  if (code === 'MCP_AUTHORIZATION_REQUIRED' || code === 'MCP_AUTHORIZATION_UNAVAILABLE') return 'signIn';
  switch (errorKinds[code].status) {
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'absent';
    case 429:
    case 503:
      return 'later';
    default:
      return 'failed';
  }
}

/** Relative to `/api/mcp/<server>/`. */
export function serverPath(server: string, rest: string): string {
  return `/api/mcp/${encodeURIComponent(server)}/${rest}`;
}

/** Relative to `/api/mcp/servers/<server>`. */
export function definitionPath(server: string, rest = ''): string {
  return `/api/mcp/servers/${encodeURIComponent(server)}${rest}`;
}

/** For responses whose body is not used. */
export const anySchema: ResponseSchema<unknown> = { safeParse: (data) => ({ success: true, data }) };
