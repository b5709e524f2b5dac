import {
  routeResource,
  subscribeToServer,
  type EndpointSelector,
  type EndpointParts,
  type Inbound,
  type Principal,
  type ServerSubscription,
  type SubscribeParts,
} from '@behalf/gateway';
import { LightCancellation, within, type Clock } from '@behalf/kernel';

/** Follows resources for one caller. An address of which nothing can be heard is left out. */
export type FollowResources = (
  caller: Principal,
  endpoint: EndpointSelector,
  tell: (address: string) => void,
) => FollowedResources;

export interface FollowedResources {
  /** Also those of the addresses that are followed already. The others are let go. Gives those that are heard of. */
  follow(addresses: readonly string[]): Promise<readonly string[]>;
  stop(): void;
}

/** Nobody waits longer for a server that does not answer. */
const DEADLINE_MS = 5_000;
const UPDATED = 'notifications/resources/updated';

interface Followed {
  readonly server: string;
  readonly uri: string;
}

export function createFollowResources(parts: {
  servers: EndpointParts & SubscribeParts;
  clock: Clock;
}): FollowResources {
  const { servers, clock } = parts;
  return (caller, endpoint, tell) => {
    const over = new LightCancellation();
    const inbound: Inbound = { principal: caller, door: 'mcp', signal: over };
    const watches = new Map<string, ServerSubscription>();
    const followed = new Map<string, Followed>();

    function watch(server: string): ServerSubscription {
      const known = watches.get(server);
      if (known) return known;
      const made = subscribeToServer(servers, server, inbound, ({ method, params }) => {
        if (method !== UPDATED) return;
        for (const [address, { server: of, uri }] of followed)
          if (of === server && uri === params['uri']) tell(address);
      });
      watches.set(server, made);
      return made;
    }

    async function add(address: string): Promise<void> {
      const { server, name: uri } = await routeResource(servers, inbound, endpoint, address);
      if (over.aborted) return;
      followed.set(address, { server, uri });
      try {
        await watch(server).subscribeResource(uri);
      } catch (error) {
        followed.delete(address);
        throw error;
      }
    }

    function drop(address: string, { server, uri }: Followed): void {
      followed.delete(address);
      for (const other of followed.values()) if (other.server === server && other.uri === uri) return;
      watches.get(server)?.unsubscribeResource(uri);
    }

    return {
      async follow(addresses) {
        const wanted = new Set(addresses);
        for (const [address, of] of followed) if (!wanted.has(address)) drop(address, of);
        const adding = [...wanted].filter((address) => !followed.has(address));
        await Promise.all(
          adding.map((address) =>
            within(clock, DEADLINE_MS, add(address), () => undefined).catch(() => undefined),
          ),
        );
        return [...wanted].filter((address) => followed.has(address));
      },
      stop() {
        over.abort(new DOMException('Nobody listens any more', 'AbortError'));
        for (const one of watches.values()) one.close();
        watches.clear();
        followed.clear();
      },
    };
  };
}
