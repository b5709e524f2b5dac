import type { Random } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { WithLeaseParts } from '../access/withLease.ts';
import type { Roles } from '../access/roles.ts';
import type { Audit } from '../audit/audit.ts';
import type { UserStore } from '../ports/index.ts';
import type { SavedKind } from './kinds.ts';
import type { SavedStore } from './sealedStore.ts';

/** Whatever is saved has these. */
export interface SavedResource {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly version: number;
}

/** Those of one kind. */
export interface SavedCollection<T extends SavedResource> {
  readonly kind: SavedKind;
  readonly store: SavedStore<T>;
}

export interface ReadSavedParts {
  readonly acl: Pick<Acl, 'getSavedBits' | 'listSavedBits'>;
  readonly roles: Pick<Roles, 'requirePermission'>;
}

/** What saving and sharing needs. */
export interface WriteSavedParts extends WithLeaseParts {
  readonly acl: Acl;
  readonly roles: Pick<Roles, 'requirePermission' | 'refresh' | 'exists'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
  readonly random: Random;
}
