// Applies the remembered theme before the first paint. The key is the one of ../src/theme.
{
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
}
