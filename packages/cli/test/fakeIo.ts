import type { Io } from '../src/io.ts';

export interface FakeIo extends Io {
  readonly printed: { out: string; err: string };
  /** Every request, in order. */
  readonly requests: { readonly method: string; readonly path: string; readonly body: unknown }[];
  interrupt(): void;
}

/** A terminal and a gateway that answers from a table: `POST /path` to a status and a body. */
export function createFakeIo(
  responses: Readonly<
    Record<string, readonly [status: number, body: unknown] | (() => readonly [number, unknown])>
  > = {},
  overrides: Partial<Io> & { stdin?: string; files?: Readonly<Record<string, string>> } = {},
): FakeIo {
  const printed = { out: '', err: '' };
  const requests: FakeIo['requests'] = [];
  const interruption = new AbortController();
  const { stdin = '', files = {}, ...ioOverrides } = overrides;
  return {
    env: { BEHALF_API_KEY: 'bhf_pl4nted', BEHALF_URL: 'http://localhost:1' },
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
    readStdin: async () => stdin,
    async readFile(path) {
      const text = files[path];
      if (text === undefined) throw new Error('ENOENT');
      return text;
    },
    isInteractive: false,
    colors: { out: false, err: false },
    prompt: async () => '',
    openBrowser: async () => false,
    async fetch(input, init) {
      init?.signal?.throwIfAborted();
      const url = new URL(input);
      const method = init?.method ?? 'GET';
      const path = url.pathname + url.search;
      requests.push({
        method,
        path,
        body: init?.body === undefined ? undefined : JSON.parse(init.body as string),
      });
      const response = responses[`${method} ${path}`] ?? responses[`${method} ${url.pathname}`];
      if (!response) throw new TypeError('fetch failed');
      const [status, body] = typeof response === 'function' ? response() : response;
      return new Response(JSON.stringify(body), { status });
    },
    now: () => 1_000_000,
    sleep: async () => undefined,
    interruptSignal: interruption.signal,
    ...ioOverrides,
    printed,
    requests,
    interrupt: () => interruption.abort(),
  };
}

/** A problem document as the gateway writes it. */
export function createProblem(status: number, code: string, detail: string, fields: object = {}) {
  return [
    status,
    { type: 'about:blank', title: detail, status, detail, code, message: detail, error: detail, ...fields },
  ] as const;
}
