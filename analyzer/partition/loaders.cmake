target_sources(partition PRIVATE
)
