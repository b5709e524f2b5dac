import type { Mutant } from '../mutants.ts';

export const kernel: readonly Mutant[] = [];
