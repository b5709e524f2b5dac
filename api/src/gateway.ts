import type { RequestListener } from 'node:http';
import type { Route } from './http/routes.ts';

/** The running parts, as main and tests hold them. */
export interface GatewayServer {
  readonly listener: RequestListener;
  /** Every door, with who may enter. */
  readonly routes: readonly Route[];
  /** Told once the port is known, because links and own-origin checks depend on it. Gives the address for people. */
  onListening(port: number): string;
  /** The address of a form for the first administrator, or null when there is nothing to set up here. */
  createSetupLink(): Promise<string | null>;
  reload(): void;
  /** Whether a token is being renewed: what its answer brings is worth waiting for. */
  isRefreshing(): boolean;
  /** From now on `/ready` says no; what is in flight goes on. */
  drain(): void;
  /** Idempotent; closes everything that was opened. */
  close(): Promise<void>;
}
