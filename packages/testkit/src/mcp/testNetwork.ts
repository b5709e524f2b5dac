import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@behalf/contracts';
import {
  createEgress,
  EgressError,
  getEgressErrorCode,
  systemDial,
  type Audience,
  type FetchOptions,
} from '@behalf/egress';
import { createKeyring, systemClock, systemRandom, type Fetch, type Send } from '@behalf/kernel';

/** The parts of a target that egress needs. */
interface Target {
  readonly url: string;
  readonly audience: Audience;
  readonly proxy?: string | undefined;
}

const PUBLIC = '93.184.216.34';

/** The real egress, as the upstream folder receives it, with access to some loopback ports only. */
export interface TestNetwork {
  sendTo(target: Target): Send;
  fetchTo(target: Target): Fetch;
  connectTo(target: Target, signal: AbortSignal): Promise<Duplex>;
  readError(error: unknown): { readonly code: ErrorCode; readonly requestSent: boolean } | undefined;
  close(): Promise<void>;
}

interface TestNetworkOptions extends Pick<FetchOptions, 'limits' | 'timeouts'> {
  /** Names that resolve to a public address, each with the loopback port that serves it. */
  names?: Readonly<Record<string, number>>;
}

export function createTestNetwork(
  ports: readonly number[],
  { names = {}, ...options }: TestNetworkOptions = {},
): TestNetwork {
  const egress = createEgress({
    clock: systemClock,
    keyring: createKeyring([new Uint8Array(32).fill(7)], systemRandom),
    settings: { allowedAddresses: ports.map((port) => `127.0.0.1:${port}`) },
    ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: () => [] }),
    env: {},
    // Tests do not use DNS.
    resolve: async (name) => {
      if (Object.hasOwn(names, name)) return [PUBLIC];
      throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    },
    dial: (target, signal) => {
      const port = names[target.servername];
      return systemDial(port === undefined ? target : { ...target, address: '127.0.0.1', port }, signal);
    },
  });
  const optionsFor = ({ audience, proxy }: Target) => ({ audience, proxy, ...options });
  return {
    sendTo: (target) => egress.sendFor(optionsFor(target)),
    fetchTo: (target) => egress.fetchFor(optionsFor(target)),
    connectTo: (target, signal) => egress.connect(target.url, optionsFor(target), signal),
    readError: (error) =>
      error instanceof EgressError
        ? { code: getEgressErrorCode(error), requestSent: error.requestSent }
        : undefined,
    close: () => egress.close(0),
  };
}
