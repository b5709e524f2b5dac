import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  createKeyring,
  systemClock,
  systemRandom,
  type Clock,
  type DialTarget,
  type Keyring,
  type Resolve,
} from '@behalf/kernel';
import { createEgress, EgressError, type Egress, type EgressParts } from '../src/index.ts';

/** What a dialler that never leaves loopback saw, without the tunnel that a test cannot compare. */
export type DialRecord = Omit<DialTarget, 'tunnel'>;

export interface EgressRig {
  egress: Egress;
  /** Every dial that was asked for, in order. */
  dials: DialRecord[];
  /** Every name that was looked up, in order. */
  resolved: string[];
}

export interface EgressRigOptions extends Partial<Omit<EgressParts, 'resolve' | 'dial' | 'clock'>> {
  /** What DNS says; a function answers each look-up anew. Unknown names fail. */
  dns?: Record<string, readonly string[] | (() => readonly string[])>;
  /** Where on 127.0.0.1 a dial really ends: one port for all, or by `address:port`. Without it nothing is opened. */
  loopbackPorts?: number | Record<string, number>;
  /** Takes the place of the loopback connection. */
  dial?: (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;
  clock?: Clock;
}

export const PUBLIC = '93.184.216.34';
export const OTHER_PUBLIC = '2606:2800:220:1:248:1893:25c8:1946';

export function testKeyring(fill = 7): Keyring {
  return createKeyring([new Uint8Array(32).fill(fill)], systemRandom);
}

/** An egress whose dialler records, and connects to a given loopback port or nowhere at all. */
export function createEgressRig(options: EgressRigOptions = {}): EgressRig {
  const dials: DialRecord[] = [];
  const resolved: string[] = [];
  const { dns = {}, loopbackPorts, dial, ...parts } = options;

  const resolve: Resolve = async (name) => {
    resolved.push(name);
    const addresses = dns[name];
    if (addresses === undefined) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    return typeof addresses === 'function' ? addresses() : addresses;
  };

  const egress = createEgress({
    clock: systemClock,
    keyring: testKeyring(),
    settings: {},
    ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: () => [] }),
    env: {},
    ...parts,
    resolve,
    dial: (target, signal) => {
      const { tunnel, ...dialRecord } = target;
      dials.push(dialRecord);
      if (dial) return dial(target, signal);
      if (tunnel) return Promise.resolve(tunnel);
      const port =
        typeof loopbackPorts === 'number'
          ? loopbackPorts
          : loopbackPorts?.[`${target.address}:${target.port}`];
      return port === undefined ? Promise.reject(new Error('recorded, not dialled')) : connectLoopback(port);
    },
  });
  return { egress, dials, resolved };
}

export function connectLoopback(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => resolve(socket));
    socket.once('error', reject);
  });
}

const servers: Server[] = [];

/** A real HTTP server on loopback; `stopServers` ends it. */
export async function startHttpServer(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

export async function stopServers(): Promise<void> {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** The reason of the EgressError that `work` ends in, or what else happened. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'no error';
  } catch (error) {
    return error instanceof EgressError ? error.reason : `not typed: ${String(error)}`;
  }
}
