import { draftPrefix } from '@behalf/contracts';
import type { Fields } from '../registry/canonicalFields.ts';
import type { UserServer } from '../registry/server.ts';

/** For how long somebody may sign in and look around before they save. */
export const DRAFT_LIFETIME_MS = 15 * 60 * 1000;
/** So that nobody collects sign-ins; a form shows one at a time. */
export const MAX_DRAFTS = 10;

/** A server that its user looks at before saving it. */
export interface ServerDraft {
  /** Also of the server that is made of it. */
  readonly id: string;
  readonly tenant: string;
  readonly userId: string;
  readonly canonicalUrl: string;
  readonly definition: Fields;
  /** As sign-ins see it. The registry never knows it: no call, list or grant of rights can name it. */
  readonly server: UserServer;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Under which it stands in addresses of ours. No saved server can have such a name. */
export function toDraftName(id: string): string {
  return `${draftPrefix}${id}`;
}

export function parseDraftName(name: string): string | undefined {
  return name.startsWith(draftPrefix) ? name.slice(draftPrefix.length) : undefined;
}
