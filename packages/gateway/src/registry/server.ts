import type { ServerSettings } from '@behalf/settings';
import type { RemoteTarget, SharedTarget } from '../upstream/target.ts';
import type { SecurityDecision } from './securityDecision.ts';

/** Where a definition comes from: the operator's file, an administrator's override of it, or a user. */
export type ServerSource = 'yaml' | 'config' | 'user';

interface ServerBase {
  /** Names the server for good; for servers of the file it is their name. */
  readonly id: string;
  /** `*` for servers of the file: they are every tenant's. */
  readonly tenant: string;
  readonly name: string;
  readonly source: ServerSource;
  /** Changes with whatever a connection depends on. No connection outlives it. */
  readonly revision: string;
  readonly settings: ServerSettings;
  /** Who defined it, for one that a user stored. */
  readonly author?: string;
  /** On whose word its address is judged: only what the operator wrote has the operator's privileges. */
  readonly audience: RemoteTarget['audience'];
  /** Whose word its address and credential rest on, for all but those of the file: not always the author's. */
  readonly securityDecision?: SecurityDecision;
}

/** Everybody shares one connection: its target was rendered without any user, and no other can be made of it. */
export interface AppServer extends ServerBase {
  readonly scope: 'app';
  readonly target: SharedTarget;
}

export type UserAuth = 'none' | 'static' | 'userVars' | 'oauth' | 'obo';

/** Each user has connections of their own. */
export interface UserServer extends ServerBase {
  readonly scope: 'user';
  readonly auth: UserAuth;
  /** It names fields of the request, so a connection serves one request alone. */
  readonly requestScoped: boolean;
}

export type ServerSnapshot = AppServer | UserServer;
