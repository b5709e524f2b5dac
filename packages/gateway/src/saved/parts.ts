import type { Random } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { AloneParts } from '../access/alone.ts';
import type { Roles } from '../access/roles.ts';
import type { Audit } from '../audit/audit.ts';
import type { UserStore } from '../ports/index.ts';
import type { SavedKind } from './kinds.ts';
import type { SavedThings } from './sealedSaved.ts';

/** Whatever is saved has these. */
export interface SavedThing {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly version: number;
}

/** Those of one kind. */
export interface Shelf<T extends SavedThing> {
  readonly kind: SavedKind;
  readonly things: SavedThings<T>;
}

export interface SeeSavedParts {
  readonly acl: Pick<Acl, 'savedBits' | 'savedOf'>;
  readonly roles: Pick<Roles, 'requirePermission'>;
}

/** What saving and sharing needs. */
export interface WriteSavedParts extends AloneParts {
  readonly acl: Acl;
  readonly roles: Pick<Roles, 'requirePermission' | 'refresh' | 'exists'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
  readonly random: Random;
}
