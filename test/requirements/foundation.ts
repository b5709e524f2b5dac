import type { Requirement } from '../requirements.ts';

export const foundation = {} as const satisfies Record<string, Requirement>;
