import type { Connecting } from './connecting.ts';

/** The sign-ins of this page, by the server they are at. They go on while another page is looked at. */
export interface Connects {
  of(server: string): Connecting;
  /** Told when a server was connected, in this window or in another of the same browser. */
  onConnected(listener: (server: string) => void): () => void;
}

export interface ConnectsParts {
  readonly create: (server: string, onConnected: () => void) => Connecting;
  /** Tells the other windows. */
  readonly tell: (server: string) => void;
  /** Hears of them. */
  readonly hear: (listener: (server: string) => void) => void;
}

export function createConnects({ create, tell, hear }: ConnectsParts): Connects {
  const known = new Map<string, Connecting>();
  const listeners = new Set<(server: string) => void>();
  const connected = (server: string) => {
    for (const listener of [...listeners]) listener(server);
  };
  hear(connected);
  return {
    of(server) {
      const one =
        known.get(server) ??
        create(server, () => {
          connected(server);
          tell(server);
        });
      known.set(server, one);
      return one;
    },
    onConnected(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
