import { z } from 'zod';
import { Obo } from './obo.ts';
import { section } from './section.ts';
import { headerMap, remoteFields, serverFields } from './serverFields.ts';

const url = z.string().min(1);

const httpFields = {
  ...serverFields,
  ...remoteFields,
  obo: Obo.optional().describe('Exchange the caller’s token for a token for this server.'),
  proxy: z
    .string()
    .min(1)
    .optional()
    .describe(
      'http, https, socks or socks5 URL; `${NAME}` only. Absent: `PROXY`, then the standard proxy variables.',
    ),
};

export const StdioServer = section({
  type: z.literal('stdio').default('stdio').describe('A child process.'),
  command: z.string().min(1).describe('Program to run. `${NAME}` is expanded, user values never are.'),
  args: z.array(z.string()).default([]).describe('Arguments of the program.'),
  env: headerMap
    .optional()
    .describe(
      'Environment of the process. From the gateway it inherits only PATH, HOME, LANG, LC_ALL and TZ, if set.',
    ),
  cwd: z.string().min(1).optional().describe('Working directory of the process. `${NAME}` is expanded.'),
  stderr: z
    .union([z.enum(['pipe', 'ignore', 'inherit']), z.int().nonnegative()])
    .default('pipe')
    .describe(
      'Where its error output goes: `pipe` to the debug log, `ignore` nowhere, `inherit` to the error output of the gateway. A number is a file descriptor.',
    ),
  ...serverFields,
}).describe('A server that runs as a child process.');

export const WebsocketServer = section({
  type: z.literal('websocket').default('websocket').describe('A websocket.'),
  url: url.describe('ws: or wss: URL.'),
  ...serverFields,
  ...remoteFields,
}).describe('A server reached over a websocket.');

export const SseServer = section({
  type: z
    .literal('sse')
    .default('sse')
    .describe('HTTP with server-sent events, the transport of MCP 2024-11-05.'),
  url: url.describe('http: or https: URL.'),
  ...httpFields,
}).describe('A server reached over HTTP and server-sent events.');

export const StreamableHttpServer = section({
  type: z
    .enum(['streamable-http', 'http'])
    .transform(() => 'streamable-http' as const)
    .describe(
      'Streamable HTTP; `http` is an alias. It must be written: a bare `url` means `sse`, as in LibreChat.',
    ),
  url: url.describe('http: or https: URL.'),
  ...httpFields,
}).describe('A server reached over streamable HTTP.');

export const McpServer = z.union([StdioServer, WebsocketServer, SseServer, StreamableHttpServer]);

export const transportSchemas = {
  stdio: StdioServer,
  websocket: WebsocketServer,
  sse: SseServer,
  'streamable-http': StreamableHttpServer,
} as const;

export type Transport = keyof typeof transportSchemas;
export type StdioServer = z.output<typeof StdioServer>;
export type WebsocketServer = z.output<typeof WebsocketServer>;
export type SseServer = z.output<typeof SseServer>;
export type StreamableHttpServer = z.output<typeof StreamableHttpServer>;
export type McpServer = StdioServer | WebsocketServer | SseServer | StreamableHttpServer;
