import type { Duplex } from 'node:stream';
import {
  createEgress,
  EgressError,
  egressErrorCode,
  type Egress,
  type EgressParts,
  type EgressSettings,
  type FetchOptions,
  type Limits,
} from '@behalf/egress';
import { GatewayError, type Network, type RemoteTarget } from '@behalf/gateway';
import type { Fetch, Send } from '@behalf/kernel';
import type { Settings } from '@behalf/settings';

export interface NetworkParts extends Omit<EgressParts, 'settings'> {
  settings: Settings;
  /** The largest answer, and the longest line of an event stream. */
  limits: Limits;
  /** Issuers that the environment names: open to the identity client alone. */
  identityOrigins: readonly string[];
}

export interface SwappableNetwork {
  readonly network: Network;
  /** To the identity provider: what is sent there is never sent on. */
  readonly identity: Fetch;
  /** Throws unless a server that a user defines may have this address. */
  judge(url: string): Promise<void>;
  /** New rules. What is in the air goes on for a moment under the old ones. */
  update(settings: Settings): void;
  close(): Promise<void>;
}

/** How long a request may take is decided where it is known what is asked, not by the door out. */
const NO_LIMIT_MS = Infinity;

const identityOptions: FetchOptions = {
  audience: 'identity',
  // Where a token or a secret is sent, a redirect is an attack.
  redirects: 'refuse',
  timeouts: { headersMs: 10_000, totalMs: 10_000, idleMs: 10_000 },
  limits: { bodyBytes: 1024 * 1024 },
};

/** The door out as the gateway's parts hold it: one name for it, whatever configuration runs. */
export function createNetwork(parts: NetworkParts): SwappableNetwork {
  const { identityOrigins } = parts;
  let rules = rulesOf(parts.settings, identityOrigins);
  let egress = open(rules);
  let doors = new Map<string, { send: Send; fetch: Fetch }>();
  const closing = new Set<Promise<void>>();
  const sockets = new Map<Duplex, RemoteTarget>();

  function open(settings: EgressSettings): Egress {
    return createEgress({ ...parts, settings });
  }

  function optionsOf({ audience, proxy, type, sseReadTimeoutMs }: RemoteTarget): FetchOptions {
    // Over sse the one long stream is all there is; its silence is the end of the conversation.
    const idleMs = type === 'sse' ? sseReadTimeoutMs : NO_LIMIT_MS;
    return {
      audience,
      proxy,
      timeouts: { headersMs: NO_LIMIT_MS, totalMs: NO_LIMIT_MS, idleMs },
      limits: parts.limits,
    };
  }

  function doorTo(target: RemoteTarget): { send: Send; fetch: Fetch } {
    const options = optionsOf(target);
    const key = JSON.stringify([target.audience, target.proxy ?? null, options.timeouts]);
    let door = doors.get(key);
    if (!door) {
      door = { send: egress.sendFor(options), fetch: egress.fetchFor(options) };
      doors.set(key, door);
    }
    return door;
  }

  /** Looked up again only after a change of the rules: this stands on the way of every call. */
  function sendTo(target: RemoteTarget): Send {
    let known = { doors, send: doorTo(target).send };
    return (request) => {
      if (known.doors !== doors) known = { doors, send: doorTo(target).send };
      return known.send(request);
    };
  }

  /** A request meets the rules by itself; a socket that stays open is judged when it opens and when they change. */
  async function connectTo(target: RemoteTarget, signal: AbortSignal): Promise<Duplex> {
    const through = egress;
    const socket = await through.connect(target.url, optionsOf(target), signal);
    sockets.set(socket, target);
    socket.once('close', () => sockets.delete(socket));
    if (through !== egress) await judgeAgain(socket, target);
    return socket;
  }

  async function judgeAgain(socket: Duplex, { url, audience }: RemoteTarget): Promise<void> {
    try {
      await egress.judge(url, audience);
    } catch (error) {
      // A name that cannot be resolved just now is no verdict.
      if (!(error instanceof EgressError) || egressErrorCode(error) !== 'MCP_DOMAIN_NOT_ALLOWED') return;
      socket.destroy();
      throw error;
    }
  }

  let identity = { egress, fetch: egress.fetchFor(identityOptions) };
  const identityFetch: Fetch = (url, init) => {
    if (identity.egress !== egress) identity = { egress, fetch: egress.fetchFor(identityOptions) };
    return identity.fetch(url, init);
  };

  function retire(old: Egress): void {
    const done: Promise<void> = old.close().finally(() => closing.delete(done));
    closing.add(done);
  }

  return {
    network: {
      sendTo,
      fetchTo: (target) => (url, init) => doorTo(target).fetch(url, init),
      connectTo,
      readError: (error) =>
        error instanceof EgressError
          ? { code: egressErrorCode(error), requestSent: error.requestSent }
          : undefined,
    },
    identity: identityFetch,
    async judge(url) {
      try {
        await egress.judge(url, 'user-server');
      } catch (error) {
        if (!(error instanceof EgressError)) throw error;
        const code = egressErrorCode(error);
        throw new GatewayError(code === 'MCP_DOMAIN_NOT_ALLOWED' ? code : 'MCP_INSPECTION_FAILED');
      }
    },
    update(settings) {
      const next = rulesOf(settings, identityOrigins);
      // Calls that run for long would be cut off for nothing.
      if (JSON.stringify(next) === JSON.stringify(rules)) return;
      const old = egress;
      egress = open(next);
      rules = next;
      doors = new Map();
      retire(old);
      for (const [socket, target] of sockets) judgeAgain(socket, target).catch(() => undefined);
    },
    async close() {
      retire(egress);
      await Promise.allSettled(closing);
    },
  };
}

function rulesOf({ mcpSettings }: Settings, identityOrigins: readonly string[]): EgressSettings {
  const { allowedDomains = [], allowedAddresses = [], operatorAddresses = [] } = mcpSettings;
  return { allowedDomains, allowedAddresses, operatorAddresses, identityOrigins };
}
