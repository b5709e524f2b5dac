import type { Requirement } from '../requirements.ts';

export const settings = {} as const satisfies Record<string, Requirement>;
