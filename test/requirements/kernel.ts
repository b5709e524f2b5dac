import type { Requirement } from '../requirements.ts';

export const kernel = {} as const satisfies Record<string, Requirement>;
