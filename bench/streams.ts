import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createSettings, startBenchGateway } from './gatewayProcess.ts';
import { createMcpAccess, type McpAccess } from './mcpCalls.ts';
import { residentKb } from './processes.ts';
import { withBenchRig, openSession, waitUntil, type PartOptions } from './rig.ts';

const USERS = 100;
const STREAMS_PER_USER = 10;

/**
 * A thousand clients, each with a session and an open stream: their memory and descriptors, and what remains after
 * they disconnect.
 */
export async function measureStreams({ progress, environment }: PartOptions): Promise<{
  counts: Record<`streams_1k_${'open' | 'kb_each' | 'fds_each' | 'fds_left' | 'rss_mb'}`, number>;
}> {
  return withBenchRig(async ({ processes, upstream }) => {
    const url = `http://127.0.0.1:${upstream.port}/legacy`;
    const gateway = await startBenchGateway(processes, {
      environment,
      settings: createSettings(upstream.port, { bench: { type: 'streamable-http', url } }),
      userIds: Array.from({ length: USERS }, (_, index) => `user-${index}`),
    });
    const clients: McpAccess[] = [];
    for (const headers of gateway.users) clients.push(await createMcpAccess({ ...gateway, headers }));
    const countDescriptors = () => readdirSync(`/proc/${gateway.pid}/fd`).length;
    // Opens one stream of each kind first, so that one-time costs are excluded.
    const firstStreams = await Promise.all(clients.map((access) => openStream(access)));
    const usageBefore = { kb: residentKb(gateway.pid), fds: countDescriptors() };
    const openSockets: Socket[] = [...firstStreams];
    for (let round = 1; round < STREAMS_PER_USER; round += 1) {
      openSockets.push(...(await Promise.all(clients.map((access) => openStream(access)))));
      progress(`${openSockets.length} streams, ${Math.round(residentKb(gateway.pid) / 1024)} MB`);
    }
    const addedStreams = openSockets.length - firstStreams.length;
    const usageDuring = { kb: residentKb(gateway.pid), fds: countDescriptors() };
    const aliveCount = openSockets.filter(({ destroyed }) => !destroyed).length;
    for (const socket of openSockets) socket.destroy();
    const baselineDescriptors = usageBefore.fds - firstStreams.length;
    await waitUntil('the descriptors are closed', async () => countDescriptors() <= baselineDescriptors);
    return {
      counts: {
        streams_1k_open: aliveCount,
        streams_1k_kb_each: Math.round((usageDuring.kb - usageBefore.kb) / addedStreams),
        streams_1k_fds_each: (usageDuring.fds - usageBefore.fds) / addedStreams,
        streams_1k_fds_left: Math.max(0, countDescriptors() - baselineDescriptors),
        streams_1k_rss_mb: Math.round(usageDuring.kb / 1024),
      },
    };
  });
}

/** Uses a raw socket: an HTTP client per stream would cost more than the measured stream. */
async function openStream({ url, headers }: McpAccess): Promise<Socket> {
  const session = await openSession(url, headers);
  const { port, pathname, host } = new URL(url);
  const lines = Object.entries({ ...headers, ...session, accept: 'text/event-stream' });
  const requestHead = [
    `GET ${pathname} HTTP/1.1`,
    `host: ${host}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  socket.on('error', () => socket.destroy());
  socket.write(`${requestHead.join('\r\n')}\r\n\r\n`);
  const response = await new Promise<string>((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8')));
    socket.once('close', () => reject(new Error('The stream was closed')));
  });
  if (!response.startsWith('HTTP/1.1 200')) throw new Error(`No stream: ${response}`);
  socket.resume();
  return socket;
}
