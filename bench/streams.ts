import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { settingsFor, startGateway } from './gatewayProcess.ts';
import { mcpAccess, type McpAccess } from './mcpCalls.ts';
import { residentKb } from './processes.ts';
import { onStage, openSession, untilGood, type PartOptions } from './stage.ts';

const USERS = 100;
const EACH = 10;

/** A thousand clients, each with a session and its stream open: what they cost, and what stays when they are gone. */
export async function measureStreams({ progress, environment }: PartOptions): Promise<{
  counts: Record<`streams_1k_${'open' | 'kb_each' | 'fds_each' | 'fds_left' | 'rss_mb'}`, number>;
}> {
  return onStage(async ({ processes, upstream }) => {
    const url = `http://127.0.0.1:${upstream.port}/legacy`;
    const gateway = await startGateway(processes, {
      environment,
      settings: settingsFor(upstream.port, { bench: { type: 'streamable-http', url } }),
      userIds: Array.from({ length: USERS }, (_, index) => `user-${index}`),
    });
    const people: McpAccess[] = [];
    for (const headers of gateway.users) people.push(await mcpAccess({ ...gateway, headers }));
    const descriptors = () => readdirSync(`/proc/${gateway.pid}/fd`).length;
    // One of each first: what is made once is nobody's own cost.
    const first = await Promise.all(people.map((access) => openStream(access)));
    const before = { kb: residentKb(gateway.pid), fds: descriptors() };
    const open: Socket[] = [...first];
    for (let round = 1; round < EACH; round += 1) {
      open.push(...(await Promise.all(people.map((access) => openStream(access)))));
      progress(`${open.length} streams, ${Math.round(residentKb(gateway.pid) / 1024)} MB`);
    }
    const more = open.length - first.length;
    const during = { kb: residentKb(gateway.pid), fds: descriptors() };
    const alive = open.filter(({ destroyed }) => !destroyed).length;
    for (const socket of open) socket.destroy();
    const floor = before.fds - first.length;
    await untilGood('the descriptors are closed', async () => descriptors() <= floor);
    return {
      counts: {
        streams_1k_open: alive,
        streams_1k_kb_each: Math.round((during.kb - before.kb) / more),
        streams_1k_fds_each: (during.fds - before.fds) / more,
        streams_1k_fds_left: Math.max(0, descriptors() - floor),
        streams_1k_rss_mb: Math.round(during.kb / 1024),
      },
    };
  });
}

/** By hand: a client of its own for each would cost more than what is measured. */
async function openStream({ url, headers }: McpAccess): Promise<Socket> {
  const session = await openSession(url, headers);
  const { port, pathname, host } = new URL(url);
  const lines = Object.entries({ ...headers, ...session, accept: 'text/event-stream' });
  const head = [
    `GET ${pathname} HTTP/1.1`,
    `host: ${host}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  socket.on('error', () => socket.destroy());
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const answer = await new Promise<string>((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8')));
    socket.once('close', () => reject(new Error('The stream was closed')));
  });
  if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`No stream: ${answer}`);
  socket.resume();
  return socket;
}
