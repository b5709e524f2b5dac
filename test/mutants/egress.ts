import type { Mutant } from '../mutants.ts';

export const egress: readonly Mutant[] = [];
