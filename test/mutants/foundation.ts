import type { Mutant } from '../mutants.ts';

export const foundation: readonly Mutant[] = [];
