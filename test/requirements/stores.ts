import type { Requirement } from '../requirements.ts';

export const stores = {} as const satisfies Record<string, Requirement>;
