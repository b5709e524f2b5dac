import type { ConnectController } from './connectController.ts';

/** The sign-ins of this page, by the server they are at. They go on while another page is looked at. */
export interface ConnectControllers {
  get(server: string): ConnectController;
  /** Told when a server was connected, in this window or in another of the same browser. */
  onConnected(listener: (server: string) => void): () => void;
}

export interface ConnectControllersParts {
  readonly create: (server: string, onConnected: () => void) => ConnectController;
  /** Tells the other windows. */
  readonly broadcast: (server: string) => void;
  /** Hears of them. */
  readonly onBroadcast: (listener: (server: string) => void) => void;
}

export function createConnectControllers({
  create,
  broadcast,
  onBroadcast,
}: ConnectControllersParts): ConnectControllers {
  const controllers = new Map<string, ConnectController>();
  const listeners = new Set<(server: string) => void>();
  const notifyListeners = (server: string) => {
    for (const listener of [...listeners]) listener(server);
  };
  onBroadcast(notifyListeners);
  return {
    get(server) {
      const controller =
        controllers.get(server) ??
        create(server, () => {
          notifyListeners(server);
          broadcast(server);
        });
      controllers.set(server, controller);
      return controller;
    },
    onConnected(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
