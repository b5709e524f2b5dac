import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@behalf/contracts';
import {
  createEgress,
  EgressError,
  egressErrorCode,
  systemDial,
  type Audience,
  type FetchOptions,
} from '@behalf/egress';
import { createKeyring, systemClock, systemRandom, type Fetch, type Send } from '@behalf/kernel';

/** Of a target only what the door out needs. */
interface Target {
  readonly url: string;
  readonly audience: Audience;
  readonly proxy?: string | undefined;
}

/** The real door out as the gateway's upstream folder takes it, open to some ports of loopback and to nothing else. */
export interface TestNetwork {
  sendTo(target: Target): Send;
  fetchTo(target: Target): Fetch;
  connectTo(target: Target, signal: AbortSignal): Promise<Duplex>;
  readError(error: unknown): { readonly code: ErrorCode; readonly requestSent: boolean } | undefined;
  close(): Promise<void>;
}

export function createTestNetwork(
  ports: readonly number[],
  options: Pick<FetchOptions, 'limits' | 'timeouts'> = {},
): TestNetwork {
  const egress = createEgress({
    clock: systemClock,
    keyring: createKeyring([new Uint8Array(32).fill(7)], systemRandom),
    settings: { allowedAddresses: ports.map((port) => `127.0.0.1:${port}`) },
    own: () => ({ origins: [], listening: [], localAddresses: () => [] }),
    env: {},
    // A test names addresses; it asks no name server.
    resolve: async () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' })),
    dial: systemDial,
  });
  const optionsFor = ({ audience, proxy }: Target) => ({ audience, proxy, ...options });
  return {
    sendTo: (target) => egress.sendFor(optionsFor(target)),
    fetchTo: (target) => egress.fetchFor(optionsFor(target)),
    connectTo: (target, signal) => egress.connect(target.url, optionsFor(target), signal),
    readError: (error) =>
      error instanceof EgressError
        ? { code: egressErrorCode(error), requestSent: error.requestSent }
        : undefined,
    close: () => egress.close(0),
  };
}
