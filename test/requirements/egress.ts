import type { Requirement } from '../requirements.ts';

export const egress = {} as const satisfies Record<string, Requirement>;
