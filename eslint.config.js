import tseslint from 'typescript-eslint'

// Types-aware rules only. Formatting is Biome's, architecture is dependency-cruiser's, dead code is knip's.
export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.data/', '**/*.{js,mjs,cjs}'] },
  tseslint.configs.strictTypeChecked,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Express tells an error handler by its four parameters.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
)
